/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pprof profiles. A location becomes one place: its last line is the procedure, the others are inlined in it; without
 * lines its binary is asked. Every sample type is a metric; the one called "samples" gives the others their sample
 * counts. Samples with other text labels, or another pid, tid, thread or rank, are other profiles, numbered as they
 * come where there is no thread; numbers like the size of an allocation are left out.
 */
#include "db/import/pprof.h"
#include "db/import/formats.h"
#include "db/import/input.h"
#include "db/import/addresses.h"
#include "db/import/target.h"
#include <string.h>
#include <strings.h>

#define SIZE_MOST ((size_t)1 << 30)
enum { PROFILES_MAX = 4096 }; /* what a label that is different every time may cost */
enum { LABELS_NAMED = 16 };

struct pprof_import {
    struct import *im;
    struct pprof tables;
    struct addresses symbols;
    VEC(uint32_t) metrics;    /* by sample type */
    VEC(uint32_t) places;     /* by location */
    VEC(uint32_t) unresolved; /* by location: number in symbols + 1 */
    size_t counts;            /* the sample type that counts samples; SIZE_MAX: none */
    struct map profile_of;    /* text of the labels -> profile + 1 */
    struct map left_out;      /* keys of labels */
    uint32_t first_profile;
    /* of the sample being read */
    VEC(uint32_t) path;
    VEC(int64_t) values;
};

/* Top-level fields that are numbers; all others are bytes. */
static bool is_number(uint32_t field)
{
    return field == PROFILE_DROP_FRAMES || field == PROFILE_KEEP_FRAMES || field == PROFILE_TIME ||
           field == PROFILE_DURATION || field == PROFILE_PERIOD || field == PROFILE_DEFAULT_TYPE ||
           field == PROFILE_DOC_URL || field == PROFILE_COMMENT;
}

bool pprof_sniff(const struct import_probe *p)
{
    struct cursor c = cursor_make(p->path, "", p->text, p->len);
    struct wire_field f;
    bool has_types = false;

    if (p->is_dir || !p->len)
        return false;
    while (wire_next(&c, &f)) {
        /* Comments may be packed. */
        bool fits = f.type == WIRE_BYTES ? !is_number(f.number) || f.number == PROFILE_COMMENT
                                         : f.type == WIRE_VARINT && is_number(f.number);

        if (f.number > PROFILE_DOC_URL || !fits)
            return false;
        has_types |= f.number == PROFILE_SAMPLE_TYPE;
    }
    return has_types && (cursor_ok(&c) || !p->whole || cursor_offset(&c) > 16);
}

/* ---- metrics ---- */

static const struct {
    const char *unit;
    enum hqm_dimension dimension;
    double scale;
} units[] = {
    {"nanoseconds", HQM_DIM_SECONDS, 1e-9},
    {"microseconds", HQM_DIM_SECONDS, 1e-6},
    {"milliseconds", HQM_DIM_SECONDS, 1e-3},
    {"seconds", HQM_DIM_SECONDS, 1},
    {"ns", HQM_DIM_SECONDS, 1e-9},
    {"us", HQM_DIM_SECONDS, 1e-6},
    {"ms", HQM_DIM_SECONDS, 1e-3},
    {"bytes", HQM_DIM_BYTES, 1},
    {"kilobytes", HQM_DIM_BYTES, 1024},
    {"megabytes", HQM_DIM_BYTES, 1048576},
    {"count", HQM_DIM_EVENTS, 1},
};

static bool is(struct pprof_text text, const char *word)
{
    return text.len == strlen(word) && !strncasecmp(text.s, word, text.len);
}

static void make_metric(struct pprof_import *p, size_t i)
{
    const struct pprof *t = &p->tables;
    struct pprof_text type = pprof_string(t, t->types.data[i].type), unit = pprof_string(t, t->types.data[i].unit);
    enum hqm_dimension dimension = HQM_DIM_NONE;
    double scale = 1;
    bool sampled = p->counts != SIZE_MAX;
    bool has_period = sampled && t->period_type.type == t->types.data[i].type &&
                      t->period_type.unit == t->types.data[i].unit;
    AUTO_FREE char *name = type.len ? xstrndup(type.s, type.len) : xstrdup("value");

    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        if (is(unit, units[u].unit)) {
            dimension = units[u].dimension;
            scale = units[u].scale;
            break;
        }
    }
    p->metrics.data[i] = import_metric(p->im, name, "from a pprof profile", dimension,
                                       HQDB_METRIC_SAMPLED | (sampled ? HQDB_METRIC_SHARED : HQDB_METRIC_NO_COUNTS),
                                       has_period                  ? t->period
                                       : sampled && i == p->counts ? 1
                                                                   : 0,
                                       scale);
}

/* The sample type that pprof shows where nothing is said: the one that the file names, or its last one. */
static size_t shown_first(const struct pprof *t)
{
    for (size_t i = 0; i < t->types.len; i++)
        if (t->default_type && t->types.data[i].type == t->default_type)
            return i;
    return t->types.len - 1;
}

static struct hq_error *make_metrics(struct pprof_import *p, const char *path)
{
    const struct pprof *t = &p->tables;

    p->counts = SIZE_MAX;
    for (size_t i = 0; i < t->types.len && p->counts == SIZE_MAX; i++)
        if (is(pprof_string(t, t->types.data[i].type), "samples") &&
            is(pprof_string(t, t->types.data[i].unit), "count"))
            p->counts = i;
    if (!t->types.len)
        return hq_error_new(HQ_DATA, "%s has no sample types: it is no pprof profile", path);
    size_t first = shown_first(t);

    for (size_t i = 0; i < t->types.len; i++)
        vec_push(&p->metrics, 0);
    make_metric(p, first);
    for (size_t i = 0; i < t->types.len; i++)
        if (i != first)
            make_metric(p, i);
    return NULL;
}

/* ---- places ---- */

static const char *keep(struct pprof_import *p, uint64_t text)
{
    struct pprof_text t = pprof_string(&p->tables, text);

    return intern_str(&p->im->names, intern_addn(&p->im->names, t.s, t.len));
}

static const struct pprof_mapping *mapping_of(const struct pprof *t, uint64_t id)
{
    uint64_t i = map_get(&t->mapping_of, id, UINT64_MAX);

    return id && i < t->mappings.len ? &t->mappings.data[i] : NULL;
}

static const struct pprof_function *function_of(const struct pprof *t, uint64_t id)
{
    static const struct pprof_function none;
    uint64_t i = map_get(&t->function_of, id, UINT64_MAX);

    return i < t->functions.len ? &t->functions.data[i] : &none;
}

static uint32_t place_of(struct pprof_import *p, const struct pprof_location *l, const char *module)
{
    const struct pprof *t = &p->tables;
    AUTO_FREE struct import_step *steps = xcalloc(l->line_count, sizeof *steps);
    const char *file = NULL;
    uint32_t line = 0;

    for (uint32_t i = 0; i < l->line_count; i++) {
        const struct pprof_line *x = &t->lines.data[l->first_line + l->line_count - 1 - i];
        const struct pprof_function *f = function_of(t, x->function);
        const char *name = keep(p, f->name);

        steps[i] = (struct import_step){.kind = i ? SCOPE_INLINE : SCOPE_PROCEDURE,
                                        .name = *name ? name : "[unknown]",
                                        .file = keep(p, f->file),
                                        .line = f->line < UINT32_MAX ? (uint32_t)f->line : 0,
                                        .at_file = file,
                                        .at_line = line};
        file = x->line ? steps[i].file : NULL;
        line = x->line;
    }
    return import_place(
        p->im,
        &(struct import_place){.module = module, .steps = steps, .count = l->line_count, .file = file, .line = line});
}

/* The number of an address without lines. */
static uint32_t bare(struct pprof_import *p, const struct pprof_mapping *m, const char *module, uint64_t address)
{
    uint64_t offset = m && address >= m->start ? address - m->start + m->offset : address;
    struct pprof_text id = pprof_string(&p->tables, m ? m->build_id : 0);

    if (id.len)
        addresses_expect(&p->symbols, module, id.s, id.len);
    return addresses_add(&p->symbols, module, offset);
}

static struct hq_error *make_places(struct pprof_import *p)
{
    const struct pprof *t = &p->tables;

    for (size_t i = 0; i < t->locations.len; i++) {
        const struct pprof_location *l = &t->locations.data[i];
        const struct pprof_mapping *m = mapping_of(t, l->mapping);
        const char *module = m ? keep(p, m->file) : "";

        vec_push(&p->unresolved, l->line_count ? 0 : bare(p, m, module, l->address) + 1);
        vec_push(&p->places, l->line_count ? place_of(p, l, module) : 0);
    }
    p->symbols.recorded = t->time_ns ? (int64_t)((t->time_ns + t->duration_ns) / 1000000000) : 0;
    HQ_TRY(addresses_resolve(&p->symbols, p->im));
    for (size_t i = 0; i < p->places.len; i++)
        if (p->unresolved.data[i])
            p->places.data[i] = p->symbols.places.data[p->unresolved.data[i] - 1];
    return NULL;
}

/* ---- samples ---- */

struct labels {
    VEC(char *) texts; /* key=value */
    uint32_t pid, tid;
    int32_t rank;
};

static bool whole_number(struct pprof_text text, uint32_t *out)
{
    *out = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.s[i] < '0' || text.s[i] > '9' || text.len > 9)
            return false;
        *out = *out * 10 + (uint32_t)(text.s[i] - '0');
    }
    return text.len > 0;
}

/* Numbers like the size of an allocation. */
static void leave_out(struct pprof_import *p, uint64_t key, struct pprof_text name)
{
    bool is_new;

    map_insert(&p->left_out, key, 0, &is_new);
    if (!is_new || p->left_out.len > LABELS_NAMED)
        return;
    AUTO_FREE char *text = xasprintf("numbers called %.*s", (int)name.len, name.s);

    import_fact(p->im, "labels left out", text);
}

static void read_label(struct pprof_import *p, struct cursor *c, struct labels *out)
{
    struct wire_field f;
    uint64_t key = 0, string = 0, number = 0;
    bool has_string = false;

    while (wire_next(c, &f)) {
        if (f.number == LABEL_KEY)
            key = f.value;
        else if (f.number == LABEL_STRING)
            has_string = (string = f.value) != 0;
        else if (f.number == LABEL_NUMBER)
            number = f.value;
    }
    struct pprof_text name = pprof_string(&p->tables, key), text = pprof_string(&p->tables, string);

    uint32_t as_text;
    bool is_number = !has_string || whole_number(text, &as_text);
    uint32_t id = has_string ? as_text : (uint32_t)number;

    if (is_number && is(name, "pid"))
        out->pid = id;
    else if (is_number && (is(name, "tid") || is(name, "thread") || is(name, "thread_id")))
        out->tid = id;
    else if (is_number && is(name, "rank"))
        out->rank = (int32_t)id;
    else if (has_string)
        vec_push(&out->texts, xasprintf("%.*s=%.*s", (int)name.len, name.s, (int)text.len, text.s));
    else
        leave_out(p, key, name);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void labels_deinit(struct labels *l)
{
    vec_foreach(text, &l->texts)
        free(*text);
    vec_deinit(&l->texts);
}

/* Go writes the labels of a sample in any order, another one each time: the same ones are one profile. */
static uint32_t profile_for(struct pprof_import *p, struct labels *l)
{
    AUTO_STR struct str key = {0};
    AUTO_STR struct str command = {0};

    vec_sort(&l->texts, compare_texts);
    vec_foreach(text, &l->texts)
        str_addf(&command, "%s%s", command.len ? " " : "", *text);
    str_addf(&key, "%u %u %d %s", l->pid, l->tid, l->rank, str_cstr(&command));
    uint64_t *known = map_insert(&p->profile_of, intern_add(&p->im->names, str_cstr(&key)), 0, NULL);

    if (*known)
        return (uint32_t)*known - 1;
    if (p->profile_of.len > PROFILES_MAX) {
        import_fact(p->im, "labels", "more than 4096 different ones: the rest is in the first profile");
        return p->first_profile;
    }
    uint32_t thread = l->tid ? l->tid : (uint32_t)p->profile_of.len - 1;
    uint32_t profile = import_profile(p->im, l->pid, l->tid, thread, str_cstr(&command));
    struct model_profile *x = import_profile_at(p->im, profile);

    x->rank = l->rank;
    x->start_realtime_ns = p->tables.time_ns;
    x->end_us = p->tables.duration_ns / 1000;
    *known = (uint64_t)profile + 1;
    if (p->profile_of.len == 1)
        p->first_profile = profile;
    return profile;
}

/* Numbers come packed or one a field. */
static void read_numbers(const struct wire_field *f, void (*fn)(struct pprof_import *, uint64_t),
                         struct pprof_import *p)
{
    struct cursor c = f->bytes;

    if (f->type == WIRE_VARINT)
        fn(p, f->value);
    else if (f->type == WIRE_BYTES)
        while (cursor_ok(&c) && cursor_left(&c))
            fn(p, cursor_uleb(&c));
}

static void add_location(struct pprof_import *p, uint64_t id)
{
    uint64_t i = map_get(&p->tables.location_of, id, UINT64_MAX);

    vec_push(&p->path, i < p->places.len ? p->places.data[i] : UINT32_MAX);
}

static void add_value(struct pprof_import *p, uint64_t value)
{
    vec_push(&p->values, (int64_t)value);
}

static struct hq_error *take_sample(struct pprof_import *p, struct cursor *c, struct labels *labels)
{
    struct wire_field f;
    size_t offset = cursor_offset(c);

    while (wire_next(c, &f)) {
        if (f.number == SAMPLE_LOCATION)
            read_numbers(&f, add_location, p);
        else if (f.number == SAMPLE_VALUE)
            read_numbers(&f, add_value, p);
        else if (f.number == SAMPLE_LABEL && f.type == WIRE_BYTES)
            read_label(p, &f.bytes, labels);
    }
    HQ_TRY(cursor_error(c));
    if (p->values.len != p->metrics.len)
        return hq_error_new(HQ_DATA, "%s: the sample at offset %zu has %zu values, but there are %zu sample types",
                            c->file, offset, p->values.len, p->metrics.len);
    vec_foreach(place, &p->path)
        if (*place == UINT32_MAX)
            return hq_error_new(HQ_DATA, "%s: the sample at offset %zu has a location that is not in the file", c->file,
                                offset);
    import_reverse(p->path.data, p->path.len);
    return NULL;
}

static void give_sample(struct pprof_import *p, struct labels *labels)
{
    uint32_t profile = profile_for(p, labels), frame = import_path(p->im, p->path.data, p->path.len);
    int64_t count = p->counts != SIZE_MAX ? p->values.data[p->counts] : 0;

    if (frame == HQDB_NONE)
        frame = model_root_frame(p->im->model, SCOPE_PARTIAL, "partial: no call path");
    for (size_t i = 0; i < p->metrics.len; i++)
        if (p->values.data[i])
            import_value(p->im, profile, p->metrics.data[i], frame, p->values.data[i], count > 0 ? (uint64_t)count : 0);
}

static struct hq_error *take_samples(struct pprof_import *p)
{
    struct cursor c = p->tables.all;
    struct wire_field f;

    while (wire_next(&c, &f)) {
        struct labels labels = {.rank = -1};

        if (f.number != PROFILE_SAMPLE || f.type != WIRE_BYTES)
            continue;
        vec_clear(&p->path);
        vec_clear(&p->values);
        size_t offset = cursor_offset(&f.bytes);
        struct hq_error *error = take_sample(p, &f.bytes, &labels);

        if (!error)
            give_sample(p, &labels);
        if (!error && import_problem(p->im))
            error = hq_error_new(HQ_DATA, "%s: the sample at offset %zu: %s", c.file, offset, import_problem(p->im));
        labels_deinit(&labels);
        HQ_TRY(error);
    }
    return NULL;
}

static struct hq_error *take_profile(struct pprof_import *p, const char *path, const struct str *data)
{
    HQ_TRY(pprof_tables(&p->tables, path, str_cstr(data), data->len));
    HQ_TRY(make_metrics(p, path));
    HQ_TRY(make_places(p));
    return take_samples(p);
}

struct hq_error *pprof_read(struct import *im, const char *path)
{
    AUTO_INPUT struct input in = {0};
    AUTO_STR struct str data = {0};
    struct pprof_import p = {.im = im};

    HQ_TRY(input_open(&in, path));
    HQ_TRY(input_whole(&in, &data, SIZE_MOST));
    addresses_init(&p.symbols);
    struct hq_error *error = take_profile(&p, path, &data);

    pprof_deinit(&p.tables);
    addresses_deinit(&p.symbols);
    vec_deinit(&p.metrics);
    vec_deinit(&p.places);
    vec_deinit(&p.unresolved);
    map_deinit(&p.profile_of);
    map_deinit(&p.left_out);
    vec_deinit(&p.path);
    vec_deinit(&p.values);
    return error;
}
