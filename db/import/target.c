/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/build/roles.h"
#include "db/import/target.h"
#include "db/import/limits.h"

#include "common/mem.h"
#include "common/names.h"
#include "common/str.h"
#include "db/folding.h"
#include "db/model/model_data.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

struct import_limits import_limits = {
    .depth = 100000, .frames = 10000000, .values = 100000000, .bytes = (uint64_t)16 << 30};

struct sum_key {
    uint32_t profile, metric, frame;
};

void import_init(struct import *im)
{
    *im = (struct import){.model = model_create()};
    keymap_init(&im->sum_keys, sizeof(struct sum_key));
    keymap_init(&im->place_keys, 2 * sizeof(uint32_t));
}

void import_deinit(struct import *im)
{
    model_destroy(im->model);
    intern_deinit(&im->names);
    keymap_deinit(&im->sum_keys);
    vec_deinit(&im->sums);
    map_deinit(&im->procedures);
    vec_deinit(&im->codes);
    vec_deinit(&im->places);
    keymap_deinit(&im->place_keys);
    vec_deinit(&im->place_of_key);
    vec_foreach(m, &im->metrics)
        free(m->event);
    vec_deinit(&im->metrics);
    vec_deinit(&im->profiles);
    vec_deinit(&im->depths);
    vec_deinit(&im->magnitudes);
    vec_deinit(&im->counts);
    vec_deinit(&im->runtimes);
    vec_deinit(&im->inside);
    free(im->problem);
}

/* ---- limits ---- */

static void set_problem(struct import *im, const char *fmt, ...)
{
    va_list ap;
    AUTO_STR struct str text = {0};

    if (im->problem)
        return;
    va_start(ap, fmt);
    str_vaddf(&text, fmt, ap);
    va_end(ap);
    im->problem = str_steal(&text);
}

static bool too_many(struct import *im, uint64_t count, uint64_t limit, const char *what, const char *option)
{
    if (count <= limit)
        return false;
    set_problem(im, "there are more than %llu %s; hq import --%s takes more, and the memory for them",
                (unsigned long long)limit, what, option);
    return true;
}

/* Every metric has an array over frames and one over profiles. */
static bool tables_fit(struct import *im)
{
    uint64_t metrics = im->metrics.len ? im->metrics.len : 1;

    return !too_many(im, metrics * im->depths.len, import_limits.values, "values (metrics times frames)",
                     "max-values") &&
           !too_many(im, metrics * im->profiles.len, import_limits.values, "values (metrics times profiles)",
                     "max-values");
}

/* ---- places ---- */

bool import_is_main(const char *name)
{
    return role_of(name) == ROLE_MAIN;
}

bool import_is_runtime(const char *name)
{
    return role_of(name) == ROLE_START;
}

bool import_starts_thread(const char *name)
{
    return role_of(name) == ROLE_THREAD_START;
}

static uint32_t home_of(struct import *im, const char *module, const char *file, uint32_t *module_id)
{
    uint32_t home = MODEL_ROOT;

    *module_id = HQDB_NONE;
    if (module && *module) {
        *module_id = model_module(im->model, module, "", 0, NULL);
        home = model_module_scope(im->model, *module_id);
    }
    if (file && *file)
        home = model_scope(im->model,
                           &(struct model_scope){
                               .kind = SCOPE_FILE, .parent = home, .name = file, .file = file, .module = *module_id});
    return home;
}

static uint32_t procedure_scope(struct import *im, const struct import_step *s, const char *module, uint32_t *module_id)
{
    uint64_t key = 0;

    if (im->by_name) {
        /* Some tools print arguments and return types, others do not. */
        struct name_parts parts = name_split(s->name);

        key = intern_addn(&im->names, parts.name, parts.no_arguments);
        uint64_t known = map_get(&im->procedures, key, 0);

        *module_id = HQDB_NONE;
        if (known)
            return (uint32_t)known - 1;
    }
    uint32_t home = home_of(im, module, s->file, module_id);
    uint32_t scope = model_scope(im->model, &(struct model_scope){.kind = SCOPE_PROCEDURE,
                                                                  .parent = home,
                                                                  .name = s->name,
                                                                  .linkage = im->by_name ? NULL : s->linkage,
                                                                  .aliases = im->by_name ? NULL : s->aliases,
                                                                  .file = s->file,
                                                                  .line = s->line,
                                                                  .module = *module_id});

    if (im->by_name)
        map_put(&im->procedures, key, (uint64_t)scope + 1);
    return scope;
}

static uint32_t inner_scope(struct import *im, uint32_t parent, const struct import_step *s, uint32_t module)
{
    return model_scope(im->model, &(struct model_scope){.kind = s->kind,
                                                        .parent = parent,
                                                        .name = s->name,
                                                        .linkage = s->linkage,
                                                        .file = s->file,
                                                        .line = s->line,
                                                        .module = module,
                                                        .call_file = s->at_file,
                                                        .call_line = s->at_line,
                                                        .ordinal = s->ordinal,
                                                        .basis = s->basis});
}

static uint32_t line_code(struct import *im, uint32_t parent, uint32_t module, uint64_t offset, const char *file,
                          uint32_t line)
{
    uint32_t scope = model_scope(
        im->model,
        &(struct model_scope){.kind = SCOPE_LINE, .parent = parent, .file = file, .line = line, .module = module});

    return model_code(im->model, module, offset, scope, scope);
}

/* One code for the whole place. */
static void place_whole(struct import *im, const struct import_place *p)
{
    uint32_t module, scope = procedure_scope(im, &p->steps[0], p->module, &module);

    for (size_t i = 1; i < p->count; i++)
        scope = inner_scope(im, scope, &p->steps[i], module);
    vec_push(&im->codes, line_code(im, scope, module, p->offset, p->file, p->line));
}

/* One code a procedure, inlined or not, and nothing but names. */
static void place_by_name(struct import *im, const struct import_place *p)
{
    for (size_t i = 0; i < p->count; i++) {
        uint32_t module;

        if (p->steps[i].kind == SCOPE_LOOP)
            continue;
        uint32_t scope = procedure_scope(im, &p->steps[i], p->module, &module);

        vec_push(&im->codes, line_code(im, scope, HQDB_NONE, 0, NULL, 0));
    }
}

uint32_t import_place(struct import *im, const struct import_place *place)
{
    struct import_codes c = {.first = (uint32_t)im->codes.len, .role = (uint8_t)role_of(place->steps[0].name)};
    bool is_new = true;

    im->by_name ? place_by_name(im, place) : place_whole(im, place);
    c.count = (uint32_t)im->codes.len - c.first;
    if (c.count == 1) {
        /* A place that comes again, under other texts of the same meaning, keeps its number. */
        uint32_t key[2] = {im->codes.data[c.first], c.role};
        uint32_t i = keymap_add(&im->place_keys, key, &is_new);

        if (!is_new) {
            im->codes.len = c.first;
            return im->place_of_key.data[i];
        }
        vec_push(&im->place_of_key, (uint32_t)im->places.len);
    }
    vec_push(&im->places, c);
    return (uint32_t)im->places.len - 1;
}

uint32_t import_named(struct import *im, const char *name, const char *module)
{
    struct import_step step = {.kind = SCOPE_PROCEDURE, .name = name};

    return import_place(im, &(struct import_place){.module = module, .steps = &step, .count = 1});
}

/* ---- frames ---- */

/* Depth and number of frames are within the limits. */
static uint32_t note_frame(struct import *im, uint32_t parent, uint32_t frame)
{
    while (im->depths.len <= frame) /* root frames are made elsewhere */
        vec_push(&im->depths, 1);
    if (parent != HQDB_NONE && parent < im->depths.len && im->depths.data[frame] == 1) {
        im->depths.data[frame] = im->depths.data[parent] + 1;
        too_many(im, im->depths.data[frame], import_limits.depth, "frames in a call path", "max-depth");
        too_many(im, im->depths.len, import_limits.frames, "different frames", "max-frames");
        tables_fit(im);
    }
    return frame;
}

static const struct runtime *runtime_of_code(struct import *im, uint32_t code)
{
    uint32_t scope = im->model->codes.data[code].normal, module = im->model->scopes.data[scope].module;

    if (module == HQDB_NONE)
        return NULL;
    while (im->runtimes.len < im->model->modules.len)
        vec_push(&im->runtimes,
                 runtime_of_module(intern_str(&im->model->strings, im->model->modules.data[im->runtimes.len].path)));
    return im->runtimes.data[module];
}

/* The insides of runtimes fold as in a database of our own measurements, where a tool tells the load modules. */
static uint32_t folded_frame(struct import *im, uint32_t parent, uint32_t code)
{
    enum inside caller = parent == HQDB_NONE || parent >= im->inside.len ? OUTSIDE : im->inside.data[parent];
    enum inside inside = inside_of(runtime_of_code(im, code), caller);
    uint32_t frame = folding_frame(im->model, parent, code, inside, NULL), entry = im->model->frames.data[frame].parent;

    if (entry != parent)
        parent = note_frame(im, parent, entry);
    note_frame(im, parent, frame);
    while (im->inside.len < im->model->frames.len)
        vec_push(&im->inside, OUTSIDE);
    im->inside.data[frame] = (uint8_t)inside;
    return frame;
}

uint32_t import_frame(struct import *im, uint32_t parent, uint32_t place)
{
    struct import_codes c = im->places.data[place];

    for (uint32_t i = 0; i < c.count && !im->problem; i++)
        parent = folded_frame(im, parent, im->codes.data[c.first + i]);
    return parent;
}

void import_reverse(uint32_t *places, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t place = places[i];

        places[i] = places[count - 1 - i];
        places[count - 1 - i] = place;
    }
}

/* How many places from `from` on have the role. */
static size_t run_of(const struct import *im, const uint32_t *places, size_t count, size_t from, enum role role)
{
    size_t n = 0;

    while (from + n < count && im->places.data[places[from + n]].role == role)
        n++;
    return n;
}

uint32_t import_path(struct import *im, const uint32_t *places, size_t count)
{
    uint32_t frame = HQDB_NONE;
    size_t runtime, starters = run_of(im, places, count, 0, ROLE_THREAD_START);
    size_t i = 0;

    if (starters && starters < count) {
        frame = model_root_frame(im->model, SCOPE_THREAD, "thread");
        i = starters;
    }
    for (; i < count && !im->problem; i++) {
        /* Folded stacks begin with the program's name, so the runtime may be the second frame too. */
        runtime = i < 2 ? run_of(im, places, count, i, ROLE_START) : 0;
        if (runtime && i + runtime < count && im->places.data[places[i + runtime]].role == ROLE_MAIN)
            i += runtime;
        frame = import_frame(im, frame, places[i]);
    }
    return frame;
}

/* ---- metrics, profiles, values ---- */

static bool taken(const struct import *im, const char *event)
{
    vec_foreach(m, &im->metrics)
        if (!strcasecmp(m->event, event))
            return true;
    return false;
}

uint32_t import_metric(struct import *im, const char *event, const char *description, enum hqm_dimension dimension,
                       unsigned flags, uint64_t period, double scale)
{
    AUTO_STR struct str own = {0};

    vec_foreach(m, &im->metrics)
        if (str_begins(m->event, event) && m->format == im->format && m->dimension == dimension && m->scale == scale &&
            (!m->event[strlen(event)] || m->event[strlen(event)] == ':'))
            return m->id;
    str_add(&own, event);
    if (taken(im, event))
        str_addf(&own, ":%s", im->format->name);
    for (int i = 2; taken(im, str_cstr(&own)); i++) {
        str_clear(&own);
        str_addf(&own, "%s:%s%d", event, im->format->name, i);
    }
    uint32_t id = model_metric(im->model, &(struct model_metric){.event = str_cstr(&own),
                                                                 .description = description,
                                                                 .dimension = (uint16_t)dimension,
                                                                 .flags = (uint16_t)flags,
                                                                 .period = period,
                                                                 .scale = scale});

    vec_push(&im->metrics,
             (struct import_metric_row){xstrdup(str_cstr(&own)), im->format, (uint16_t)dimension, scale, id});
    while (im->magnitudes.len <= id) {
        vec_push(&im->magnitudes, 0);
        vec_push(&im->counts, 0);
    }
    tables_fit(im);
    return id;
}

const char *import_keep(struct import *im, const char *text)
{
    return intern_str(&im->names, intern_add(&im->names, text));
}

uint32_t import_profile(struct import *im, uint32_t pid, uint32_t tid, uint32_t thread, const char *command)
{
    vec_push(&im->profiles, (struct model_profile){.rank = -1,
                                                   .host = "",
                                                   .pid = pid,
                                                   .tid = tid,
                                                   .thread = thread,
                                                   .serial = (uint32_t)im->file,
                                                   .state = HQM_ENDED,
                                                   .command = import_keep(im, command),
                                                   .creator_profile = HQDB_NONE,
                                                   .creator_frame = HQDB_NONE});
    tables_fit(im);
    return (uint32_t)im->profiles.len - 1;
}

struct model_profile *import_profile_at(struct import *im, uint32_t profile)
{
    return &im->profiles.data[profile];
}

void import_trace(struct import *im, uint32_t profile, uint64_t time_us, uint32_t frame, uint32_t metric,
                  uint32_t weight)
{
    struct model_profile *p = import_profile_at(im, profile);

    if (im->problem || too_many(im, ++im->records, import_limits.values, "trace records", "max-values"))
        return;
    p->end_us = time_us > p->end_us ? time_us : p->end_us;
    model_trace(im->model, profile, p->end_us, frame, metric, weight);
}

/* Every sum of some of the values fits if that of their magnitudes does. */
static bool sums_fit(struct import *im, uint32_t metric, int64_t sum, uint64_t count)
{
    uint64_t magnitude = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    uint64_t *all = &im->magnitudes.data[metric], *counts = &im->counts.data[metric];

    if (magnitude > INT64_MAX - *all || count > HQDB_MOST_SAMPLES - *counts) {
        vec_foreach(m, &im->metrics)
            if (m->id == metric)
                set_problem(im, "the %s of %s add up to more than 2^6%d, which cannot be counted",
                            magnitude > INT64_MAX - *all ? "values" : "numbers of samples", m->event,
                            magnitude > INT64_MAX - *all ? 3 : 2);
        return false;
    }
    *all += magnitude;
    *counts += count;
    return true;
}

void import_value(struct import *im, uint32_t profile, uint32_t metric, uint32_t frame, int64_t sum, uint64_t count)
{
    struct sum_key key = {profile, metric, frame};
    bool is_new;

    if (im->problem || !sums_fit(im, metric, sum, count))
        return;
    uint32_t i = keymap_add(&im->sum_keys, &key, &is_new);

    if (is_new) {
        vec_push(&im->sums, (struct import_sum){0});
        too_many(im, im->sums.len, import_limits.values, "values", "max-values");
    }
    im->sums.data[i].sum += sum;
    im->sums.data[i].count += count;
}

void import_fact(struct import *im, const char *key, const char *text)
{
    AUTO_STR struct str both = {0};

    str_addf(&both, "fact %s=%s", key, text);
    uint32_t before = intern_count(&im->names);

    if (intern_add(&im->names, str_cstr(&both)) >= before)
        model_info(im->model, key, text);
}

/* Where only some tell when they began, the others began with the first: not in 1970. */
static void align_starts(struct import *im)
{
    uint64_t first = 0;

    vec_foreach(p, &im->profiles)
        if (p->start_realtime_ns && (!first || p->start_realtime_ns < first))
            first = p->start_realtime_ns;
    vec_foreach(p, &im->profiles)
        if (!p->start_realtime_ns)
            p->start_realtime_ns = first;
}

void import_finish(struct import *im)
{
    align_starts(im);
    vec_foreach(p, &im->profiles)
        model_profile(im->model, p);
    for (uint32_t i = 0; i < im->sum_keys.len; i++) {
        struct sum_key key;

        memcpy(&key, keymap_key(&im->sum_keys, i), sizeof key);
        if (im->sums.data[i].sum || im->sums.data[i].count)
            model_value(im->model, key.profile, key.metric, key.frame, im->sums.data[i].sum, im->sums.data[i].count);
    }
}

double import_scale(double total, bool whole)
{
    double digits = 0;

    if (whole || !isfinite(total))
        return 1;
    /* 2^60 leaves room for the inclusive sums of hostile files that do not add up. */
    while (digits < 12 && fabs(total) * pow(10, digits + 1) < 0x1p60)
        digits++;
    return pow(10, -digits);
}
