/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes profiles of the records of a perf.data (perfdata_file.h). Stacks are unwound from their copies, or are call
 * chains; names come from the binaries, where they still are, and of the kernel from /proc/kallsyms while it is the one
 * that was recorded. A thread is a profile, an event a metric.
 */
#include "common/file.h"
#include "common/numbers.h"
#include "common/search.h"
#include "db/build/attribute.h"
#include "db/generated.h"
#include "db/import/addresses.h"
#include "db/import/formats.h"
#include "db/import/perfdata_generated.h"
#include "db/import/perfdata_file.h"
#include "db/import/target.h"
#include "db/perf_map.h"
#include "db/perf/tasks.h"
#include "db/perf/vdso.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define NO_NODE UINT32_MAX

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
    struct perfdata_file file;
    VEC(uint32_t) metrics; /* [file.events]; HQDB_NONE: of none so far */
    struct perf_tasks tasks;
    struct addresses addresses;
    struct keymap site_keys; /* struct site_key */
    VEC(struct site) sites;
    struct keymap nodes; /* parent + 1, site: call paths, outermost first */
    VEC(struct sample) samples;
    struct keymap threads; /* pid, image, tid */
    VEC(uint32_t) profiles;
    int vdso;            /* a descriptor of its image, -1: none */
    struct map called;   /* pid << 32 | tid -> what the kernel calls the thread, in im->names */
    uint64_t lost, text; /* text: of the kernel, as recorded; 0 unknown */
    uint64_t partial[HQM_PARTIAL_MAX];
};

bool perfdata_sniff(const struct import_probe *p)
{
    return !p->is_dir && perfdata_file_begins(p->text, p->len);
}

/* ---- places ---- */

/* `pid`: of the process whose code is in no file, else 0. */
struct site_key {
    uint64_t offset;
    uint32_t module, pid;
};

static uint32_t site_of(struct perfdata *f, struct site_key key)
{
    bool is_new;
    uint32_t n = keymap_add(&f->site_keys, &key, &is_new);
    struct site s = {.module = key.module};

    if (!is_new)
        return n;
    const struct perf_module *m = key.module == UINT32_MAX ? NULL : &f->tasks.modules.data[key.module];

    if (m && m->image) {
        s.number = addresses_add(&f->addresses, m->path, perf_image_file_offset(m->image, key.offset));
    } else if (m && key.module) { /* the kernel's get their names later */
        AUTO_FREE char *text = xasprintf("%s+0x%" PRIx64, file_basename(m->path), key.offset);

        s.place = import_named(f->im, text, m->path);
        s.placed = true;
        if (!m->is_vdso)
            import_fact(f->im, "not found", m->path);
    } else if (!m && !key.pid) {
        s.place = import_named(f->im, "[unknown]", NULL);
        s.placed = true;
    }
    vec_push(&f->sites, s);
    return n;
}

/* A frame in no mapping is anything: what stood where a frame pointer should have led. */
static struct site_key key_of(struct perf_process *p, const struct perf_frame *frame)
{
    if (frame->module != UINT32_MAX)
        return (struct site_key){.offset = frame->offset, .module = frame->module};
    if (!perf_tasks_mapping(p, frame->address))
        return (struct site_key){.module = UINT32_MAX};
    return (struct site_key){.offset = frame->address, .module = UINT32_MAX, .pid = p->pid};
}

static uint32_t node_of(struct perfdata *f, uint32_t parent, uint32_t site)
{
    uint32_t key[2] = {parent + 1, site};

    return keymap_add(&f->nodes, key, NULL);
}

/* The symbols of the kernel that runs, if it is the one that was recorded: its text lies where it lay. NULL: it is not.
 */
static FILE *kernel_symbols(uint64_t text)
{
    FILE *symbols = text ? fopen("/proc/kallsyms", "re") : NULL;
    uint64_t address;
    char line[600], name[32];

    if (text && !symbols)
        mem_end_if_refused();
    while (symbols && fgets(line, sizeof line, symbols))
        if (sscanf(line, "%" SCNx64 " %*c %31s", &address, name) == 2 && address == text &&
            (!strcmp(name, "_text") || !strcmp(name, "_stext"))) {
            rewind(symbols);
            return symbols;
        }
    if (symbols)
        fclose(symbols);
    return NULL;
}

/* The names of the kernel's procedures at these addresses, which are sorted; none if they are not to be had. */
static void name_addresses(const struct perfdata *f, const uint64_t *addresses, size_t count, struct perf_map *out)
{
    AUTO_FCLOSE FILE *symbols = kernel_symbols(f->text);
    AUTO_FREE char *names = NULL;
    size_t size = 0, length = 0;
    FILE *to = symbols ? open_memstream(&names, &size) : NULL;

    if (to) {
        perf_stream_write_names(symbols, addresses, count, to);
        fclose(to);
        length = size;
    }
    perf_map_parse(names ? names : "", length, addresses, count, out);
}

/* The sites of a module (and process) that have no place yet: their addresses, sorted. */
static size_t sites_of(const struct perfdata *f, uint32_t module, uint32_t pid, uint64_t *addresses)
{
    size_t count = 0;

    for (uint32_t i = 0; i < f->sites.len; i++) {
        const struct site_key *key = keymap_key(&f->site_keys, i);

        if (key->module == module && key->pid == pid && !f->sites.data[i].placed)
            addresses[count++] = key->offset;
    }
    return numbers_sort(addresses, count);
}

/* Gives them the places that the map tells; what it has no name for is called as its home. */
static void place_sites(struct perfdata *f, uint32_t module, uint32_t pid, const uint64_t *addresses, size_t count,
                        const struct perf_map *map, const char *home)
{
    for (uint32_t i = 0; i < f->sites.len; i++) {
        const struct site_key *key = keymap_key(&f->site_keys, i);
        struct site *s = &f->sites.data[i];
        uint64_t address = key->offset;

        if (key->module != module || key->pid != pid || s->placed)
            continue;
        uint32_t entry = map->entry_of[SEARCH(k, count, addresses[k] < address)];
        const char *text = entry == PERF_MAP_NONE ? home : intern_str(&map->texts, map->entries.data[entry].name);
        struct generated_name name = {0};

        if (pid && entry != PERF_MAP_NONE)
            name = generated_name(text);
        struct import_step step = {
            .kind = SCOPE_PROCEDURE, .name = name.name ? name.name : text, .file = name.file, .line = name.line};

        s->place = import_place(f->im, &(struct import_place){.module = home, .steps = &step, .count = 1});
        s->placed = true;
        free(name.name);
        free(name.file);
    }
}

static void name_kernel(struct perfdata *f)
{
    AUTO_FREE uint64_t *addresses = xcalloc(f->sites.len + 1, sizeof *addresses);
    AUTO(perf_map_deinit) struct perf_map map = {0};
    size_t count = sites_of(f, 0, 0, addresses);

    name_addresses(f, addresses, count, &map);
    place_sites(f, 0, 0, addresses, count, &map, "[kernel]");
}

/* Code that lies in no file, of each process by its own map. */
static void name_generated(struct perfdata *f)
{
    AUTO_FREE uint64_t *pids = xcalloc(f->sites.len + 1, sizeof *pids);
    AUTO_FREE uint64_t *addresses = xcalloc(f->sites.len + 1, sizeof *addresses);
    size_t n = 0;
    uint64_t span = f->samples.len ? vec_last(&f->samples).time - f->samples.data[0].time : 0;

    for (uint32_t i = 0; i < f->sites.len; i++) {
        const struct site_key *key = keymap_key(&f->site_keys, i);

        if (key->pid)
            pids[n++] = key->pid;
    }
    n = numbers_sort(pids, n);
    for (size_t i = 0; i < n; i++) {
        AUTO(perf_map_deinit) struct perf_map map = {0};
        size_t count = sites_of(f, UINT32_MAX, (uint32_t)pids[i], addresses);

        enum perfdata_map is = perfdata_generated(f->file.map.path, span, (uint32_t)pids[i], addresses, count, &map);

        if (is == PERFDATA_MAP_OTHER || is == PERFDATA_MAP_UNREAD) {
            AUTO_FREE char *text = xasprintf("/tmp/perf-%u.map %s", (unsigned)pids[i],
                                             is == PERFDATA_MAP_OTHER
                                                 ? "was not written by this program while it was recorded: not used"
                                                 : "cannot be opened: its names are missing");

            import_fact(f->im, "generated code", text);
        }
        place_sites(f, UINT32_MAX, (uint32_t)pids[i], addresses, count, &map, "[generated code]");
    }
}

/* ---- samples ---- */

static uint32_t metric_of(struct perfdata *f, const struct perfdata_event *e, bool traced)
{
    uint32_t *metric = &f->metrics.data[e - f->file.events.data];

    if (*metric == HQDB_NONE) {
        AUTO_FREE char *made = xasprintf("event_%u_%llx", e->attr.type, (unsigned long long)e->attr.config);
        bool clock = perfdata_is_clock(e);
        unsigned flags = HQDB_METRIC_SAMPLED | (traced ? HQDB_METRIC_TRACED | HQDB_METRIC_WEIGHED : 0);

        *metric = import_metric(f->im,
                                e->name ? e->name
                                : clock ? "cpu-clock"
                                        : made,
                                "sampled by perf", clock ? HQM_DIM_SECONDS : HQM_DIM_EVENTS, flags, traced,
                                clock ? 1e-9 : 1);
    }
    return *metric;
}

static uint32_t profile_of(struct perfdata *f, const struct perf_process *p, uint32_t tid)
{
    uint32_t key[3] = {p->pid, p->serial, tid};
    bool is_new;
    uint32_t n = keymap_add(&f->threads, key, &is_new);

    if (is_new) {
        const char *name = intern_str(&f->im->names, (uint32_t)map_get(&f->called, (uint64_t)p->pid << 32 | tid, 0));

        vec_push(&f->profiles, import_profile(f->im, p->pid, tid, tid == p->pid ? 0 : tid, *name ? name : p->name));
    }
    return f->profiles.data[n];
}

/* A thread begins with the name of what created it; if it gets another one, the last is the one. */
static void note_name(struct perfdata *f, const struct perf_event *e)
{
    uint64_t thread = (uint64_t)e->pid << 32 | e->tid;

    if (e->type == PERF_RECORD_FORK && e->pid == e->parent_pid)
        map_put(&f->called, thread, map_get(&f->called, (uint64_t)e->pid << 32 | e->parent_tid, 0));
    if (e->type != PERF_RECORD_COMM)
        return;
    const struct perf_process *p = perf_tasks_process(&f->tasks, e->pid);
    uint32_t name = intern_add(&f->im->names, e->name), key[3] = {p->pid, p->serial, e->tid};
    uint32_t n = keymap_find(&f->threads, key);

    map_put(&f->called, thread, name);
    if (n != KEYMAP_NONE)
        import_profile_at(f->im, f->profiles.data[n])->command = intern_str(&f->im->names, name);
}

static void take_sample(struct perfdata *f, const struct perfdata_event *of, const struct perf_event *e,
                        struct perf_path *path)
{
    struct sample s = {.time = e->time, .node = NO_NODE};

    perf_tasks_unwind(&f->tasks, e, of->attr.sample_regs_user, path);
    s.partial = of->attr.sample_type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER) ? path->partial : 0;
    s.profile = profile_of(f, path->thread.process, e->tid);
    s.metric = metric_of(f, of, of->attr.sample_type & PERF_SAMPLE_TIME);
    s.period = of->attr.sample_type & PERF_SAMPLE_PERIOD ? e->period : of->attr.freq ? 1 : of->attr.sample_period;
    for (size_t i = path->frame_count; i-- > 0;)
        s.node = node_of(f, s.node, site_of(f, key_of(path->thread.process, &path->frames[i])));
    for (size_t i = path->kernel.len; i-- > 0;)
        s.node = node_of(f, s.node, site_of(f, (struct site_key){.offset = path->kernel.data[i]}));
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
    for (size_t i = 0; e->path && !e->build_id_len && i < f->file.build_ids.len; i++)
        if (!strcmp(f->file.build_ids.data[i].path, e->path)) {
            memcpy(e->build_id, f->file.build_ids.data[i].id, PERF_BUILD_ID);
            e->build_id_len = PERF_BUILD_ID;
        }
    perf_tasks_note(&f->tasks, e);
    note_name(f, e);
}

static struct hq_error *take_records(struct perfdata *f, const struct perf_stream *s)
{
    struct perf_path path = {0};
    struct hq_error *err = NULL;

    for (size_t i = 0; i < s->records.len && !err; i++) {
        const uint8_t *at = f->file.map.data + s->records.data[i].offset;
        size_t size = perf_event_size(at, f->file.map.data + f->file.map.size);
        struct perf_layout layout = s->layout;
        struct perf_event e;
        bool sound = perf_event_read(&layout, at, size, &e);
        const struct perfdata_event *of = perfdata_event_of(&f->file, e.id);

        if (e.type == PERF_RECORD_SAMPLE && of != f->file.events.data) {
            layout = perfdata_layout(of);
            sound = perf_event_read(&layout, at, size, &e);
        }
        sound = sound && (e.type != PERF_RECORD_SAMPLE || perfdata_chain_fits(of, &e));
        if (!sound)
            err = hq_error_new(HQ_DATA, "%s: the record at byte %llu is damaged", f->file.map.path,
                               (unsigned long long)s->records.data[i].offset);
        else if (e.type == PERF_RECORD_SAMPLE)
            take_sample(f, of, &e, &path);
        else
            take_other(f, &e);
        if (!err && f->tasks.crowded)
            err = hq_error_new(HQ_DATA, "%s: " PERF_TASKS_CROWDED, f->file.map.path);
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
            return hq_error_new(HQ_DATA, "%s: %s", f->file.map.path, import_problem(f->im));
    }
    for (uint32_t reason = 1; reason < HQM_PARTIAL_MAX; reason++)
        if (f->partial[reason])
            model_loss(f->im->model, partial_reason(reason), true, f->partial[reason]);
    if (f->lost)
        model_loss(f->im->model, loss_reason(HQM_LOSS_BUFFER), false, f->lost);
    return NULL;
}

/* The vDSO is in no file: its build-id tells whether the image that is there is the one that was recorded. */
static void find_vdso(struct perfdata *f)
{
    vec_foreach(b, &f->file.build_ids)
        if (f->vdso < 0 && !strcmp(b->path, "[vdso]"))
            f->vdso = perf_vdso_open(b->id);
    if (f->vdso < 0)
        return;
    f->tasks.vdso = xasprintf("/proc/self/fd/%d", f->vdso);
    addresses_read_from(&f->addresses, "[vdso]", f->tasks.vdso);
}

/* Tells what the call paths are worth, as far as no path does so itself. */
static void tell_paths(struct perfdata *f)
{
    size_t alone = 0, pointers = 0;

    vec_foreach(e, &f->file.events) {
        alone += !(e->attr.sample_type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER));
        pointers += e->attr.sample_type & PERF_SAMPLE_CALLCHAIN && !(e->attr.sample_type & PERF_SAMPLE_STACK_USER) &&
                    !e->attr.exclude_callchain_user && !(e->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
    }
    if (alone)
        import_fact(f->im, "call paths",
                    alone == f->file.events.len
                        ? "none: perf was not asked for callers; perf record -g or --call-graph dwarf records them"
                        : "of some events none: perf was not asked for their callers");
    if (pointers)
        import_fact(f->im, "call paths",
                    "those of frame pointers: callers whose code keeps none are missing in them, which nothing shows; "
                    "perf record --call-graph dwarf finds them");
}

static struct hq_error *take_all(struct perfdata *f)
{
    AUTO(perf_stream_close) struct perf_stream records = {0};

    HQ_TRY(perfdata_file_records(&f->file, &records));
    find_vdso(f);
    HQ_TRY(take_records(f, &records));
    HQ_TRY(addresses_resolve(&f->addresses, f->im));
    name_kernel(f);
    name_generated(f);
    tell_paths(f);
    return give(f);
}

static void deinit(struct perfdata *f)
{
    vec_deinit(&f->metrics);
    perf_tasks_deinit(&f->tasks);
    addresses_deinit(&f->addresses);
    keymap_deinit(&f->site_keys);
    vec_deinit(&f->sites);
    keymap_deinit(&f->nodes);
    vec_deinit(&f->samples);
    keymap_deinit(&f->threads);
    map_deinit(&f->called);
    vec_deinit(&f->profiles);
    perfdata_file_close(&f->file);
    if (f->vdso >= 0)
        close(f->vdso);
}

struct hq_error *perfdata_read(struct import *im, const char *path)
{
    AUTO(deinit) struct perfdata f = {.im = im, .vdso = -1};

    perf_tasks_init(&f.tasks);
    addresses_init(&f.addresses);
    keymap_init(&f.site_keys, 16);
    keymap_init(&f.nodes, 8);
    keymap_init(&f.threads, 12);
    if (!strcmp(path, "-"))
        return hq_error_new(HQ_DATA, "perf.data cannot be read from a pipe: name the file");
    HQ_TRY(perfdata_file_open(path, &f.file));
    for (size_t i = 0; i < f.file.events.len; i++)
        vec_push(&f.metrics, HQDB_NONE);
    return take_all(&f);
}
