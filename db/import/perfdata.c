/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf.data as `perf record` writes it to a file (tools/perf/Documentation/perf.data-file-format.txt of Linux): header,
 * attributes, records, and of the features build-ids and names of events. Stacks are unwound from their copies, or are
 * call chains; names come from the binaries, where they still are, and of the kernel from /proc/kallsyms while it is
 * the one that was recorded. A thread is a profile, an event a metric.
 */
#include "common/cursor.h"
#include "common/file.h"
#include "common/numbers.h"
#include "common/search.h"
#include "db/attribute.h"
#include "db/import/addresses.h"
#include "db/import/formats.h"
#include "db/import/target.h"
#include "db/perf/stream.h"
#include "db/perf_map.h"
#include "db/perf/tasks.h"
#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

enum { FEATURE_BUILD_ID = 2, FEATURE_EVENT_DESC = 12, EVENTS_MAX = 1024, ATTR_LEAST = 64 };
enum { RECORD_AUXTRACE = 71, RECORD_COMPRESSED = 81, RECORD_COMPRESSED2 = 83 };
#define NO_NODE UINT32_MAX

struct span {
    uint64_t offset, size;
};

struct file_header {
    char magic[8];
    uint64_t size, attr_size;
    struct span attrs, data, types;
    uint64_t features[4];
};

struct event {
    struct perf_event_attr attr;
    VEC(uint64_t) ids;
    const char *name; /* NULL: not known */
    uint32_t metric;
    bool has_metric;
};

struct build_id {
    const char *path;
    uint8_t id[PERF_BUILD_ID];
};

struct site { /* of an address: what it is called is asked for all at once */
    uint32_t module;
    uint32_t number; /* in addresses; unless it has a place */
    uint32_t place;
    bool placed;
};

struct sample {
    uint64_t time, period;
    uint32_t node, profile, metric, partial;
};

struct perfdata {
    struct import *im;
    struct file_map map;
    struct file_header header;
    VEC(struct event) events;
    VEC(struct build_id) build_ids;
    struct perf_tasks tasks;
    struct addresses addresses;
    struct keymap site_keys; /* module, offset */
    VEC(struct site) sites;
    struct keymap nodes; /* parent + 1, site: call paths, outermost first */
    VEC(struct sample) samples;
    struct keymap threads; /* pid, image, tid */
    VEC(uint32_t) profiles;
    uint64_t lost, text; /* text: of the kernel, as recorded; 0 unknown */
    uint64_t partial[HQM_PARTIAL_MAX];
};

static const char MAGIC[8] = "PERFILE2";

bool perfdata_sniff(const struct import_probe *p)
{
    return !p->is_dir && p->len >= sizeof MAGIC && !memcmp(p->text, MAGIC, sizeof MAGIC);
}

/* ---- the header ---- */

static bool inside(const struct perfdata *f, struct span s)
{
    return s.offset <= f->map.size && s.size <= f->map.size - s.offset;
}

static struct hq_error *damaged(const struct perfdata *f, const char *what)
{
    return hq_error_new(HQ_DATA, "%s: the file is damaged or cut off in its %s", f->map.path, what);
}

static struct hq_error *read_header(struct perfdata *f)
{
    struct file_header *h = &f->header;

    if (f->map.size < 16 || memcmp(f->map.data, MAGIC, sizeof MAGIC) != 0)
        return hq_error_new(HQ_DATA, "%s is no perf.data of a little-endian machine", f->map.path);
    memcpy(&h->size, f->map.data + 8, 8);
    if (h->size == 16)
        return hq_error_new(
            HQ_DATA,
            "%s was written to a pipe: perf inject -i %s -o FILE, or recording to a file, makes one that "
            "is read",
            f->map.path, f->map.path);
    if (f->map.size < sizeof *h)
        return damaged(f, "header");
    memcpy(h, f->map.data, sizeof *h);
    if (!h->data.size)
        return hq_error_new(HQ_DATA, "%s: perf was killed while it recorded, and never wrote where the records end",
                            f->map.path);
    if (!inside(f, h->attrs) || !inside(f, h->data) || h->attr_size < ATTR_LEAST + sizeof(struct span) ||
        h->attrs.size / h->attr_size > EVENTS_MAX)
        return damaged(f, "header");
    return NULL;
}

static struct hq_error *read_attributes(struct perfdata *f)
{
    size_t known = f->header.attr_size - sizeof(struct span);

    for (uint64_t at = 0; at + f->header.attr_size <= f->header.attrs.size; at += f->header.attr_size) {
        const uint8_t *entry = f->map.data + f->header.attrs.offset + at;
        struct event *e = vec_add(&f->events);
        struct span ids;

        memcpy(&e->attr, entry, known < sizeof e->attr ? known : sizeof e->attr);
        memcpy(&ids, entry + known, sizeof ids);
        if (!inside(f, ids))
            return damaged(f, "attributes");
        for (uint64_t i = 0; i < ids.size / 8; i++)
            vec_push(&e->ids, perf_word(f->map.data + ids.offset, i));
    }
    return f->events.len ? NULL : damaged(f, "attributes");
}

static void read_build_ids(struct perfdata *f, struct cursor c)
{
    while (cursor_left(&c) >= 36) {
        const uint8_t *start = c.at;
        uint32_t type = cursor_u32(&c);
        uint16_t misc = cursor_u16(&c), size = cursor_u16(&c);

        (void)type, (void)misc;
        if (size < 37 || size > c.end - start)
            return;
        struct build_id b = {.path = (const char *)start + 36};

        memcpy(b.id, start + 12, PERF_BUILD_ID);
        if (memchr(b.path, 0, size - 36))
            vec_push(&f->build_ids, b);
        c.at = start + size;
    }
}

static void read_names(struct perfdata *f, struct cursor c)
{
    uint32_t count = cursor_u32(&c), attr_size = cursor_u32(&c);

    for (uint32_t i = 0; i < count && i < f->events.len; i++) {
        cursor_skip(&c, attr_size);
        uint32_t ids = cursor_u32(&c), length = cursor_u32(&c);
        const char *name = (const char *)cursor_bytes(&c, length);

        cursor_skip(&c, (uint64_t)ids * 8);
        if (!cursor_ok(&c) || !name || !memchr(name, 0, length))
            return;
        f->events.data[i].name = name;
    }
}

/* Behind the records there is a span for each feature that is there. */
static void read_features(struct perfdata *f)
{
    uint64_t at = f->header.data.offset + f->header.data.size;

    for (unsigned bit = 0; bit < 256; bit++) {
        struct span s;

        if (!(f->header.features[bit / 64] >> bit % 64 & 1))
            continue;
        if (f->map.size < sizeof s || at > f->map.size - sizeof s)
            return;
        memcpy(&s, f->map.data + at, sizeof s);
        at += sizeof s;
        if (!inside(f, s))
            continue;
        struct cursor c = cursor_make(f->map.path, "features", f->map.data + s.offset, s.size);

        if (bit == FEATURE_BUILD_ID)
            read_build_ids(f, c);
        else if (bit == FEATURE_EVENT_DESC)
            read_names(f, c);
    }
}

/* ---- places ---- */

static uint32_t site_of(struct perfdata *f, uint32_t module, uint64_t offset)
{
    struct {
        uint64_t offset;
        uint32_t module, zero;
    } key = {offset, module, 0};
    bool is_new;
    uint32_t n = keymap_add(&f->site_keys, &key, &is_new);
    struct site s = {.module = module};

    if (!is_new)
        return n;
    const struct perf_module *m = module == UINT32_MAX ? NULL : &f->tasks.modules.data[module];

    if (m && m->image && !m->is_vdso) {
        s.number = addresses_add(&f->addresses, m->path, perf_image_file_offset(m->image, offset));
    } else if (module) { /* the kernel's get their names later */
        const char *name = m ? m->path : "";
        AUTO_FREE char *text = *name ? xasprintf("%s+0x%" PRIx64, file_basename(name), offset)
                                     : xasprintf("0x%" PRIx64, offset);

        s.place = import_named(f->im, text, *name ? name : NULL);
        s.placed = true;
        if (*name && !m->is_vdso)
            import_fact(f->im, "not found", name);
    }
    vec_push(&f->sites, s);
    return n;
}

static uint32_t node_of(struct perfdata *f, uint32_t parent, uint32_t site)
{
    uint32_t key[2] = {parent + 1, site};

    return keymap_add(&f->nodes, key, NULL);
}

/* Names of the kernel hold while it is the one that was recorded: its text lies where it lay. */
static void name_kernel(struct perfdata *f)
{
    AUTO_FCLOSE FILE *symbols = fopen("/proc/kallsyms", "re");
    AUTO_FREE char *text = NULL;
    AUTO_FREE uint64_t *addresses = xcalloc(f->sites.len + 1, sizeof *addresses);
    size_t count = 0, size = 0, length = 0;
    char line[600], *names = NULL;
    bool same = false;

    while (symbols && f->text && !same && fgets(line, sizeof line, symbols)) {
        uint64_t address;
        char name[32];

        same = sscanf(line, "%" SCNx64 " %*c %31s", &address, name) == 2 && address == f->text &&
               (!strcmp(name, "_text") || !strcmp(name, "_stext"));
    }
    for (uint32_t i = 0; i < f->sites.len; i++)
        if (!f->sites.data[i].module)
            addresses[count++] = perf_word(keymap_key(&f->site_keys, i), 0);
    count = numbers_sort(addresses, count);
    FILE *out = same ? open_memstream(&names, &size) : NULL;

    if (out) {
        rewind(symbols);
        perf_stream_write_names(symbols, addresses, count, out);
        fclose(out);
        length = size;
    }
    text = names;
    struct perf_map map;

    perf_map_parse(text ? text : "", length, addresses, count, &map);
    for (uint32_t i = 0; i < f->sites.len; i++) {
        struct site *s = &f->sites.data[i];

        if (s->module)
            continue;
        uint64_t address = perf_word(keymap_key(&f->site_keys, i), 0);
        size_t at = SEARCH(k, count, addresses[k] < address);
        uint32_t entry = map.entry_of[at];

        s->place = import_named(
            f->im, entry == PERF_MAP_NONE ? "[kernel]" : intern_str(&map.texts, map.entries.data[entry].name),
            "[kernel]");
        s->placed = true;
    }
    perf_map_deinit(&map);
}

/* ---- samples ---- */

static struct event *event_of(struct perfdata *f, uint64_t id)
{
    for (size_t i = 1; i < f->events.len; i++)
        vec_foreach(x, &f->events.data[i].ids)
            if (*x == id)
                return &f->events.data[i];
    return &f->events.data[0];
}

static bool is_clock(const struct event *e)
{
    return e->attr.type == PERF_TYPE_SOFTWARE &&
           (e->attr.config == PERF_COUNT_SW_CPU_CLOCK || e->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

static uint32_t metric_of(struct perfdata *f, struct event *e, bool traced)
{
    if (!e->has_metric) {
        AUTO_FREE char *made = xasprintf("event_%u_%llx", e->attr.type, (unsigned long long)e->attr.config);
        bool clock = is_clock(e);
        unsigned flags = HQDB_METRIC_SAMPLED | (traced ? HQDB_METRIC_TRACED | HQDB_METRIC_WEIGHED : 0);

        e->metric = import_metric(f->im,
                                  e->name ? e->name
                                  : clock ? "cpu-clock"
                                          : made,
                                  "sampled by perf", clock ? HQM_DIM_SECONDS : HQM_DIM_EVENTS, flags, traced,
                                  clock ? 1e-9 : 1);
        e->has_metric = true;
    }
    return e->metric;
}

static uint32_t profile_of(struct perfdata *f, const struct perf_process *p, uint32_t tid)
{
    uint32_t key[3] = {p->pid, p->serial, tid};
    bool is_new;
    uint32_t n = keymap_add(&f->threads, key, &is_new);

    if (is_new)
        vec_push(&f->profiles, import_profile(f->im, p->pid, tid, tid == p->pid ? 0 : tid, p->name));
    return f->profiles.data[n];
}

static void take_sample(struct perfdata *f, struct event *of, const struct perf_event *e, struct perf_path *path)
{
    struct sample s = {.time = e->time, .node = NO_NODE};

    perf_tasks_unwind(&f->tasks, e, of->attr.sample_regs_user, path);
    s.partial = path->partial;
    s.profile = profile_of(f, path->thread.process, e->tid);
    s.metric = metric_of(f, of, of->attr.sample_type & PERF_SAMPLE_TIME);
    s.period = of->attr.sample_type & PERF_SAMPLE_PERIOD ? e->period : of->attr.freq ? 1 : of->attr.sample_period;
    for (size_t i = path->frame_count; i-- > 0;)
        s.node = node_of(f, s.node, site_of(f, path->frames[i].module, path->frames[i].offset));
    for (size_t i = path->kernel.len; i-- > 0;)
        s.node = node_of(f, s.node, site_of(f, 0, path->kernel.data[i]));
    f->partial[s.partial] += s.partial != 0;
    vec_push(&f->samples, s);
}

static void take_other(struct perfdata *f, struct perf_event *e)
{
    if (e->type == PERF_RECORD_LOST || e->type == PERF_RECORD_LOST_SAMPLES)
        f->lost += e->lost;
    if ((e->type == PERF_RECORD_MMAP || e->type == PERF_RECORD_MMAP2) && e->path &&
        (!strcmp(e->path, "[kernel.kallsyms]_text") || !strcmp(e->path, "[kernel.kallsyms]_stext")))
        f->text = e->offset;
    for (size_t i = 0; e->path && !e->build_id_len && i < f->build_ids.len; i++)
        if (!strcmp(f->build_ids.data[i].path, e->path)) {
            memcpy(e->build_id, f->build_ids.data[i].id, PERF_BUILD_ID);
            e->build_id_len = PERF_BUILD_ID;
        }
    perf_tasks_note(&f->tasks, e);
}

static struct perf_layout layout_of(const struct event *e)
{
    return (struct perf_layout){.sample_type = e->attr.sample_type,
                                .read_format = e->attr.read_format,
                                .registers = e->attr.sample_regs_user,
                                .branches = e->attr.branch_sample_type,
                                .sample_id_all = e->attr.sample_id_all};
}

/* The places of the records, in the order of time. */
static struct hq_error *find_records(struct perfdata *f, struct perf_stream *out)
{
    const uint8_t *at = f->map.data + f->header.data.offset, *end = at + f->header.data.size;

    out->layout = layout_of(&f->events.data[0]);
    for (size_t size; at < end && (size = perf_event_size(at, end)) != 0; at += size) {
        uint32_t type;

        memcpy(&type, at, 4);
        if (type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2)
            return hq_error_new(HQ_DATA,
                                "%s: its records are compressed (perf record -z), which is not read: record without -z",
                                f->map.path);
        if (type == RECORD_AUXTRACE && size >= 16 && perf_word(at, 1) <= (uint64_t)(end - at) - size)
            at += perf_word(at, 1);
        else if (type < 64)
            vec_push(&out->records,
                     (struct perf_stream_at){perf_event_time(&out->layout, at, size), (uint64_t)(at - f->map.data)});
    }
    if (at < end)
        return damaged(f, "records");
    perf_stream_sort(out);
    return NULL;
}

static struct hq_error *take_records(struct perfdata *f, const struct perf_stream *s)
{
    struct perf_path path = {0};
    struct hq_error *err = NULL;

    for (size_t i = 0; i < s->records.len && !err; i++) {
        const uint8_t *at = f->map.data + s->records.data[i].offset;
        size_t size = perf_event_size(at, f->map.data + f->map.size);
        struct perf_layout layout = s->layout;
        struct perf_event e;
        bool sound = perf_event_read(&layout, at, size, &e);
        struct event *of = event_of(f, e.id);

        if (e.type == PERF_RECORD_SAMPLE && of != f->events.data) {
            layout = layout_of(of);
            sound = perf_event_read(&layout, at, size, &e);
        }
        if (!sound)
            err = hq_error_new(HQ_DATA, "%s: the record at byte %llu is damaged", f->map.path,
                               (unsigned long long)s->records.data[i].offset);
        else if (e.type == PERF_RECORD_SAMPLE)
            take_sample(f, of, &e, &path);
        else
            take_other(f, &e);
        if (!err && f->tasks.crowded)
            err = hq_error_new(HQ_DATA, "%s: " PERF_TASKS_CROWDED, f->map.path);
    }
    vec_deinit(&path.kernel);
    return err;
}

/* ---- what they make ---- */

static uint32_t frame_of(struct perfdata *f, const struct sample *s)
{
    VEC(uint32_t) places = {0};
    uint32_t frame = HQDB_NONE, key[2];

    for (uint32_t n = s->node; n != NO_NODE; n = key[0] - 1) {
        memcpy(key, keymap_key(&f->nodes, n), sizeof key);
        const struct site *site = &f->sites.data[key[1]];

        vec_push(&places, site->placed ? site->place : f->addresses.places.data[site->number]);
    }
    import_reverse(places.data, places.len);
    if (s->partial || !places.len) {
        frame = model_root_frame(f->im->model, SCOPE_PARTIAL, partial_reason(s->partial));
        vec_foreach(p, &places)
            frame = import_frame(f->im, frame, *p);
    } else {
        frame = import_path(f->im, places.data, places.len);
    }
    vec_deinit(&places);
    return frame;
}

static struct hq_error *give(struct perfdata *f)
{
    AUTO(map_deinit) struct map frames = {0};
    uint64_t start = f->samples.len ? f->samples.data[0].time : 0;

    vec_foreach(s, &f->samples) {
        bool is_new;
        uint64_t *frame = map_insert(&frames, (uint64_t)s->partial << 32 | s->node, 0, &is_new);

        if (is_new)
            *frame = frame_of(f, s);
        import_value(f->im, s->profile, s->metric, (uint32_t)*frame, (int64_t)s->period, 1);
        if (s->time && s->period)
            import_trace(f->im, s->profile, (s->time - start) / 1000, (uint32_t)*frame, s->metric,
                         s->period < UINT32_MAX ? (uint32_t)s->period : UINT32_MAX);
        if (import_problem(f->im))
            return hq_error_new(HQ_DATA, "%s: %s", f->map.path, import_problem(f->im));
    }
    for (uint32_t reason = 1; reason < HQM_PARTIAL_MAX; reason++)
        if (f->partial[reason])
            model_loss(f->im->model, partial_reason(reason), true, f->partial[reason]);
    if (f->lost)
        model_loss(f->im->model, loss_reason(HQM_LOSS_BUFFER), false, f->lost);
    return NULL;
}

static struct hq_error *take_all(struct perfdata *f)
{
    AUTO(perf_stream_close) struct perf_stream records = {0};

    HQ_TRY(read_header(f));
    HQ_TRY(read_attributes(f));
    read_features(f);
    HQ_TRY(find_records(f, &records));
    HQ_TRY(take_records(f, &records));
    HQ_TRY(addresses_resolve(&f->addresses, f->im));
    name_kernel(f);
    return give(f);
}

static void deinit(struct perfdata *f)
{
    vec_foreach(e, &f->events)
        vec_deinit(&e->ids);
    vec_deinit(&f->events);
    vec_deinit(&f->build_ids);
    perf_tasks_deinit(&f->tasks);
    addresses_deinit(&f->addresses);
    keymap_deinit(&f->site_keys);
    vec_deinit(&f->sites);
    keymap_deinit(&f->nodes);
    vec_deinit(&f->samples);
    keymap_deinit(&f->threads);
    vec_deinit(&f->profiles);
    file_map_close(&f->map);
}

struct hq_error *perfdata_read(struct import *im, const char *path)
{
    AUTO(deinit) struct perfdata f = {.im = im};

    perf_tasks_init(&f.tasks);
    addresses_init(&f.addresses);
    keymap_init(&f.site_keys, 16);
    keymap_init(&f.nodes, 8);
    keymap_init(&f.threads, 12);
    if (!strcmp(path, "-"))
        return hq_error_new(HQ_DATA, "perf.data cannot be read from a pipe: name the file");
    HQ_TRY(file_map_open(path, &f.map));
    return take_all(&f);
}
