/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/build/process.h"

#include "common/file.h"
#include "common/mem.h"
#include "common/log.h"
#include "db/build/devices.h"
#include "db/generated.h"
#include "db/build/lanes.h"
#include "db/measurement.h"
#include "db/build/waiting.h"
#include "db/build/zeroed.h"
#include <stdlib.h>
#include <string.h>

/* ---- facts ---- */

static void note_fact(struct process *p, const char *key, const char *value)
{
    struct {
        const char *key;
        const char **place;
    } known[] = {
        {"host", &p->host},
        {"machine", &p->machine},
        {"command", &p->command},
        {"executable", &p->executable},
        {"directory", &p->working_directory},
        {"launcher", &p->launcher},
        {"collector", &p->collector},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!strcmp(key, known[i].key))
            *known[i].place = arena_strdup(&p->arena, value);
    }
    if (!strcmp(key, "warning")) {
        const char **more = ARENA_ARRAY(&p->arena, p->warning_count + 1, const char *);

        if (p->warning_count)
            memcpy(more, p->warnings, p->warning_count * sizeof *more);
        more[p->warning_count++] = arena_strdup(&p->arena, value);
        p->warnings = more;
    }
}

static void read_facts(struct process *p, const struct measurement *m)
{
    struct measured records = measured_records(m, HQM_INFO, 0);

    p->host = p->machine = p->command = p->executable = p->working_directory = p->launcher = p->collector = "";
    for (const struct hqm_info *i; (i = measured_next(&records));)
        note_fact(p, measurement_string(m, i->key), measurement_string(m, i->value));
}

enum { MAX_EVENTS = 4096 }; /* more only by damage */

/* One whose text is gone still counted something. */
static const char *event_name(struct process *p, const struct measurement *m, const struct hqm_event *e,
                              uint32_t number)
{
    const char *name = measurement_string(m, e->name);

    p->damaged |= !*name;
    return *name ? arena_strdup(&p->arena, name) : arena_printf(&p->arena, "LOST_NAME_%u", number + 1);
}

static void read_events(struct process *p, const struct measurement *m)
{
    struct measured records = measured_records(m, HQM_EVENTS, 0);

    while (measured_next(&records)) {
        if (records.number < MAX_EVENTS && records.number >= p->event_count)
            p->event_count = records.number + 1;
    }
    p->events = ARENA_ARRAY(&p->arena, p->event_count, struct process_event);
    records = measured_records(m, HQM_EVENTS, 0);
    for (const struct hqm_event *e; (e = measured_next(&records));) {
        if (records.number >= p->event_count)
            continue;
        p->events[records.number] = (struct process_event){
            .name = event_name(p, m, e, records.number),
            .description = arena_strdup(&p->arena, measurement_string(m, e->description)),
            .dimension = e->dimension <= HQM_DIM_BYTES ? e->dimension : HQM_DIM_NONE,
            .flags = e->flags,
            .period = e->period,
            .scale = e->scale,
        };
    }
}

static int compare_threads(const void *pa, const void *pb)
{
    const struct process_thread *a = pa, *b = pb;

    return (a->number > b->number) - (a->number < b->number);
}

static void read_threads(struct process *p, const struct measurement *m, struct lanes *lanes, struct calltree *tree)
{
    VEC(struct process_thread) threads = {0};

    for (size_t i = 0; i < lanes->thread_count; i++) {
        const struct hqm_thread *t = &lanes->threads[i];

        vec_push(&threads, (struct process_thread){
                               .number = t->number,
                               .tid = t->tid,
                               .creator = t->creator,
                               .creator_frame = TREE_NONE,
                               .start_us = t->start_us,
                               .end_us = t->end_us ? t->end_us : p->header.end_us,
                           });
    }
    for (size_t i = 0; i < threads.len; i++) {
        threads.data[i].creator_frame = lanes_creator_frame(lanes, m, tree, i);
        p->damaged |= lanes_creator_is_lost(lanes, m, i);
    }
    if (threads.len)
        qsort(threads.data, threads.len, sizeof *threads.data, compare_threads);
    p->threads = ARENA_ARRAY(&p->arena, threads.len, struct process_thread);
    p->thread_count = threads.len;
    if (threads.len)
        memcpy(p->threads, threads.data, threads.len * sizeof *threads.data);
    vec_deinit(&threads);
}

uint32_t process_thread(const struct process *p, uint32_t number)
{
    struct process_thread key = {.number = number};
    const struct process_thread *t = p->thread_count
                                         ? bsearch(&key, p->threads, p->thread_count, sizeof key, compare_threads)
                                         : NULL;

    return t ? (uint32_t)(t - p->threads) : TREE_NONE;
}

void process_move_frames(struct process *p, const uint32_t *remap)
{
    for (size_t t = 0; t < p->thread_count; t++) {
        uint32_t *frame = &p->threads[t].creator_frame;

        *frame = *frame == TREE_NONE ? TREE_NONE : remap[*frame];
    }
    for (size_t i = 0; i < p->region_count; i++)
        p->regions[i].frame = remap[p->regions[i].frame];
    for (size_t i = 0; i < p->message_count; i++)
        p->messages[i].frame = remap[p->messages[i].frame];
    for (size_t i = 0; i < p->command_count; i++)
        p->commands[i].frame = remap[p->commands[i].frame];
    for (size_t i = 0; i < p->command_sum_count; i++)
        p->command_sums[i].frame = remap[p->command_sums[i].frame];
}

struct messages {
    VEC(struct process_message) all;
};

/* Adds the path of a thread to a node, at which something was measured; TREE_NONE: the file lacks a part of it. */
static uint32_t add_sampled(struct lane *lane, struct calltree *tree, uint32_t number, uint32_t node)
{
    uint32_t thread = lanes_thread(lane->lanes, number);
    uint32_t frame = thread == TREE_NONE ? TREE_NONE : lane_add(lane, tree, thread, node);

    if (frame != TREE_NONE)
        tree->sampled.data[frame] = true;
    return frame;
}

static void scan_messages(struct process *p, struct lane *lane, const struct measurement *m, struct calltree *tree,
                          struct messages *messages)
{
    struct measured records = measured_records(m, HQM_MESSAGES, lane->number);

    for (const struct hqm_message *x; (x = measured_next(&records));) {
        uint32_t frame = add_sampled(lane, tree, x->thread, x->node);
        struct process_message message = {.frame = frame, .thread = x->thread};

        if (frame == TREE_NONE)
            continue;
        message.group = x->group ? arena_strdup(&p->arena, measurement_string(m, x->group)) : "";
        message.message = (struct hqdb_message){.peer = x->peer,
                                                .count = x->count,
                                                .bytes = x->bytes,
                                                .time_ns = x->time_ns,
                                                .received = x->received,
                                                .received_bytes = x->received_bytes};
        if (x->group && !*message.group) {
            p->damaged = true; /* its text is gone */
            message.message.peer = -1;
        }
        vec_push(&messages->all, message);
    }
}

static void keep_messages(struct process *p, struct messages *messages)
{
    p->message_count = messages->all.len;
    p->messages = ARENA_ARRAY(&p->arena, p->message_count, struct process_message);
    if (p->message_count)
        memcpy(p->messages, messages->all.data, p->message_count * sizeof *p->messages);
    vec_deinit(&messages->all);
}

static void read_regions(struct process *p, const struct measurement *m, struct lanes *lanes, struct calltree *tree)
{
    VEC(struct process_region) regions = {0};

    for (uint32_t lane = 0; measurement_next_lane(m, &lane);) {
        struct measured records = measured_records(m, HQM_REGIONS, lane);

        for (const struct hqm_region *r; (r = measured_next(&records));) {
            if (r->runtime == HQM_RUNTIME_TASK)
                continue;
            uint32_t frame = lanes_region(lanes, tree, (uint64_t)lane << 32 | r->node);

            bool sized = records.at->record_size >= sizeof *r && r->largest;

            if (frame != TREE_NONE)
                vec_push(&regions, (struct process_region){frame, r->thread, r->entries, r->left, r->elapsed_ns,
                                                           sized ? r->threads : 0, sized ? r->largest : 0});
        }
    }
    p->regions = ARENA_ARRAY(&p->arena, regions.len, struct process_region);
    p->region_count = regions.len;
    if (regions.len)
        memcpy(p->regions, regions.data, regions.len * sizeof *regions.data);
    vec_deinit(&regions);
}

static void note_zeroed(struct process *p, const struct measurement *m)
{
    AUTO_STR struct str text = {0};

    str_addf(&text, "%s: as after a power cut there are zeros in place of ", p->path);
    if (!zeroed_pages(m, &text))
        return;
    p->damaged = true;
    note_fact(p, "warning", str_cstr(&text));
    log_warn("%s; what they held is missing", str_cstr(&text));
}

/* A sum that does not fit comes of damage. Those of all files together are looked at when they are added
 * (model/tally.h). */
static struct hq_error *add_volume(const struct process *p, uint64_t *volumes, const struct hqm_cell *c)
{
    uint64_t more = c->sum > c->count ? c->sum : c->count;

    if (c->event >= p->event_count)
        return NULL;
    if (more > INT64_MAX - volumes[c->event])
        return hq_error_new(HQ_DATA, "%s: the measurement file is damaged: its values of %s add up to more than 2^63",
                            p->path, p->events[c->event].name ? p->events[c->event].name : "an event");
    volumes[c->event] += more;
    return NULL;
}

/* In a file of so many events the number of marks is one of theirs. */
bool process_is_mark(const struct process *p, uint32_t event)
{
    return event == HQM_TRACE_MARK && p->event_count <= HQM_TRACE_MARK;
}

/* Counts the samples that are there, and of these those that are traced, on the way. */
static struct hq_error *scan_cells(const struct process *p, struct lane *lane, const struct measurement *m,
                                   struct calltree *tree, uint64_t *samples, uint64_t *traced, uint64_t *volumes)
{
    struct measured records = measured_records(m, HQM_CELLS, lane->number);

    for (const struct hqm_cell *c; (c = measured_next(&records));) {
        if (add_sampled(lane, tree, c->thread, c->node) == TREE_NONE)
            continue;
        HQ_TRY(add_volume(p, volumes, c));
        if (c->event < p->event_count && p->events[c->event].flags & HQM_EVENT_SAMPLED)
            *samples += c->count;
        if (c->event < p->event_count && p->events[c->event].flags & HQM_EVENT_TRACED)
            *traced += c->count;
    }
    return NULL;
}

/* Is there a sample in the trace? */
static bool scan_trace(const struct process *p, struct lane *lane, const struct measurement *m, struct calltree *tree)
{
    struct lane_trace trace = lane_trace_start(m, lane);
    struct lane_record r;
    bool any = false;

    while (lane_trace_next(&trace, &r)) {
        if (process_is_mark(p, r.event))
            continue;
        uint32_t frame = lane_add(lane, tree, r.thread, r.node);

        any = true;
        if (frame != TREE_NONE)
            tree->sampled.data[frame] = true;
    }
    return any;
}

static struct hq_error *scan_lane(const struct process *p, struct lane *lane, const struct measurement *m,
                                  const struct map *waits, struct calltree *tree, uint64_t *samples, uint64_t *volumes)
{
    uint64_t traced = 0;
    struct waiting wait;

    HQ_TRY(scan_cells(p, lane, m, tree, samples, &traced, volumes));
    bool any = scan_trace(p, lane, m, tree);

    if (waiting_of(waits, p, lane->number, &wait)) {
        struct hqm_cell more = {.event = wait.event, .sum = wait.weight * p->events[wait.event].period};

        if (add_sampled(lane, tree, wait.thread, wait.node) != TREE_NONE)
            HQ_TRY(add_volume(p, volumes, &more));
    }
    /* One may have been counted when the process was killed, and its record not yet made. */
    if (traced > 1 && !any && !p->header.loss[HQM_LOSS_TRACE] && !p->header.loss[HQM_LOSS_NO_SPACE])
        lane->damaged = true;
    return NULL;
}

static struct hq_error *scan(struct process *p, const struct measurement *m, struct calltree *tree)
{
    struct lanes lanes;
    struct messages messages = {0};
    struct hq_error *error = NULL;
    uint64_t samples = 0;

    p->header = m->header;
    p->header.end_us = waiting_until(p->path, &m->header);
    p->damaged |= m->lost_segments;
    read_facts(p, m);
    read_events(p, m);
    note_zeroed(p, m);

    AUTO_FREE uint64_t *volumes = xcalloc(p->event_count + 1, sizeof *volumes);
    AUTO(map_deinit) struct map waits = waiting_find(m);

    lanes_init(&lanes, m, tree, p->directory, generated_is_named(p->path, m) ? p->path : NULL);
    read_threads(p, m, &lanes, tree);
    for (uint32_t number = 0; !error && measurement_next_lane(m, &number);) {
        struct lane lane;

        lane_init(&lane, &lanes, m, number);
        error = scan_lane(p, &lane, m, &waits, tree, &samples, volumes);
        scan_messages(p, &lane, m, tree, &messages);
        p->damaged |= lane.damaged;
        lane_deinit(&lane);
    }
    read_regions(p, m, &lanes, tree);
    keep_messages(p, &messages);
    devices_scan(p, m, &lanes, tree);
    lanes_deinit(&lanes);
    /* The collector counts a sample when its cell has it, and the header was read first: fewer come of damage only. */
    p->missing = m->header.samples > samples ? m->header.samples - samples : 0;
    p->damaged |= p->missing > 0;
    return error;
}

struct hq_error *process_scan(const char *path, struct calltree *tree, struct process *out)
{
    struct measurement m;
    struct hq_error *err;
    AUTO_FREE char *directory = file_dirname(path);

    *out = (struct process){0};
    HQ_TRY(measurement_open(path, &m));
    out->path = arena_strdup(&out->arena, path);
    out->directory = arena_strdup(&out->arena, directory);
    err = scan(out, &m, tree);
    measurement_close(&m);
    return err;
}

char *process_called(const struct process *p)
{
    AUTO_FREE char *first = xstrndup(p->command, strcspn(p->command, " "));
    const char *name = file_basename(first);

    name += *name == '-'; /* a login shell */
    return xstrdup(*name && !strpbrk(name, "'\"\\") ? name : file_basename(p->executable));
}

void process_deinit(struct process *p)
{
    arena_deinit(&p->arena);
}
