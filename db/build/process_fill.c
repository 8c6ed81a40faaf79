/* SPDX-License-Identifier: BSD-3-Clause */
/* The second pass over a measurement file: the values, traces and marks of its threads, in frames of the database. */
#include "db/build/process.h"

#include "common/mem.h"
#include "db/build/devices.h"
#include "db/build/lanes.h"
#include "db/measurement.h"
#include "db/build/waiting.h"
#include <stdlib.h>

struct filling {
    const struct process *process;
    const struct process_places *places;
    struct process_data *data;
    const uint32_t *row; /* [thread as in lanes] -> in process.threads, which is sorted */
};

#define WEIGHT_MOST ((uint64_t)UINT32_MAX << 14) /* more no wait has, and a damaged file shall make few records */

static uint32_t place(const struct filling *f, struct lane *lane, uint32_t thread, uint32_t node)
{
    uint32_t frame = lane_find(lane, f->places->tree, thread, node);

    return frame == TREE_NONE ? HQDB_NONE : f->places->frames[frame];
}

static void fill_values(const struct filling *f, struct lane *lane, const struct measurement *m)
{
    struct measured records = measured_records(m, HQM_CELLS, lane->number);

    for (const struct hqm_cell *c; (c = measured_next(&records));) {
        uint32_t metric = c->event < f->process->event_count ? f->places->metrics[c->event] : HQDB_NONE;
        uint32_t thread = lanes_thread(lane->lanes, c->thread), frame;

        if (metric == HQDB_NONE || thread == TREE_NONE)
            continue;
        frame = place(f, lane, thread, c->node);
        if (frame != HQDB_NONE)
            vec_push(&f->data->values[f->row[thread] * f->data->metric_count + metric],
                     (struct db_value){.frame = frame, .sum = (int64_t)c->sum, .count = c->count});
    }
}

/* By how much a counted event has grown. */
static void fill_growth(const struct filling *f, const struct lane_record *r)
{
    uint32_t event = r->weight - HQM_MARK_COUNT, row = f->row[r->thread];
    uint32_t metric = event < f->process->event_count ? f->places->metrics[event] : HQDB_NONE;
    struct growth_list *list = &f->data->growth[row];
    uint64_t time = list->len && vec_last(list).time_us > r->time_us ? vec_last(list).time_us : r->time_us;

    if (metric != HQDB_NONE)
        vec_push(list, (struct db_growth){time, r->node, metric});
}

static void fill_mark(const struct filling *f, struct lane *lane, const struct lane_record *r)
{
    uint32_t frame = lanes_find_region(lane->lanes, f->places->tree, (uint64_t)lane->number << 32 | r->node);
    struct mark_list *list = &f->data->marks[f->row[r->thread]];
    uint64_t time = list->len && vec_last(list).time_us > r->time_us ? vec_last(list).time_us : r->time_us;

    frame = frame == TREE_NONE ? HQDB_NONE : f->places->frames[frame];
    if (frame != HQDB_NONE)
        vec_push(list, (struct db_mark){time, frame, r->weight == HQM_MARK_LEAVE});
}

/* The weight of a record: where processes were sampled at different rates, a metric's period is a unit of all of
 * theirs.
 */
static uint64_t weight_of(const struct filling *f, uint32_t event, uint32_t metric, uint32_t weight)
{
    const struct hqdb_metric *m = &f->places->metric[metric];
    unsigned __int128 all = (unsigned __int128)weight * f->process->events[event].period;

    if (!(m->flags & HQDB_METRIC_WEIGHED) || !m->period)
        return weight;
    all = (all + m->period / 2) / m->period;
    return all < WEIGHT_MOST ? (uint64_t)all : WEIGHT_MOST;
}

static void fill_trace(const struct filling *f, struct lane *lane, const struct measurement *m)
{
    struct lane_trace trace = lane_trace_start(m, lane);
    struct lane_record r;

    while (lane_trace_next(&trace, &r)) {
        if (process_is_mark(f->process, r.event)) {
            if (r.weight >= HQM_MARK_COUNT)
                fill_growth(f, &r);
            else
                fill_mark(f, lane, &r);
            continue;
        }
        uint32_t metric = r.event < f->process->event_count ? f->places->metrics[r.event] : HQDB_NONE;
        uint32_t frame = place(f, lane, r.thread, r.node);
        struct trace_list *list = &f->data->traces[f->row[r.thread]];

        if (metric == HQDB_NONE || frame == HQDB_NONE)
            continue;
        if (list->len && vec_last(list).time_us > r.time_us)
            r.time_us = vec_last(list).time_us;
        uint64_t weight = weight_of(f, r.event, metric, r.weight); /* of a sound file it fits */

        vec_push(list, (struct db_trace_record){r.time_us, frame, metric,
                                                weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX});
    }
}

/* Adds several records where one cannot hold it, each of which stands for the time before it. */
static void add_wait(const struct filling *f, struct trace_list *list, uint64_t weight, struct db_trace_record r)
{
    const struct hqdb_metric *m = &f->places->metric[r.metric];

    for (; weight > UINT32_MAX; weight -= UINT32_MAX) {
        double before = (double)(weight - UINT32_MAX) * (double)m->period * m->scale * 1e6;
        uint64_t least = list->len ? vec_last(list).time_us : 0;
        struct db_trace_record part = {least, r.frame, r.metric, UINT32_MAX};

        if (before < (double)(r.time_us - least))
            part.time_us = r.time_us - (uint64_t)before;
        vec_push(list, part);
    }
    r.weight = (uint32_t)weight;
    vec_push(list, r);
}

/* After the lane's values: a wait that ends meanwhile may be missing, but is not there twice. */
static void fill_waiting(const struct filling *f, struct lane *lane, const struct map *waits)
{
    const struct process *p = f->process;
    struct waiting wait;
    uint32_t thread, frame, metric;

    if (!waiting_of(waits, p, lane->number, &wait))
        return;
    thread = lanes_thread(lane->lanes, wait.thread);
    frame = thread == TREE_NONE ? HQDB_NONE : place(f, lane, thread, wait.node);
    metric = f->places->metrics[wait.event];
    if (frame == HQDB_NONE || metric == HQDB_NONE)
        return;
    vec_push(&f->data->values[f->row[thread] * f->data->metric_count + metric],
             (struct db_value){.frame = frame, .sum = (int64_t)(wait.weight * p->events[wait.event].period)});
    if (p->events[wait.event].flags & HQM_EVENT_TRACED) {
        struct trace_list *list = &f->data->traces[f->row[thread]];
        uint64_t end = p->header.end_us, last = list->len ? vec_last(list).time_us : 0;

        add_wait(f, list, weight_of(f, wait.event, metric, wait.weight),
                 (struct db_trace_record){end > last ? end : last, frame, metric, 0});
    }
}

static uint32_t *thread_rows(const struct process *p, const struct lanes *lanes)
{
    uint32_t *row = xcalloc(lanes->thread_count + 1, sizeof *row);

    for (size_t i = 0; i < lanes->thread_count; i++)
        row[i] = process_thread(p, lanes->threads[i].number);
    return row;
}

struct hq_error *process_fill(const struct process *p, const struct process_places *places, struct process_data *out)
{
    struct measurement m;
    struct lanes lanes;
    struct filling f = {p, places, out, NULL};
    AUTO_FREE uint32_t *row = NULL;

    *out = (struct process_data){.thread_count = p->thread_count, .metric_count = places->metric_count};
    HQ_TRY(measurement_open(p->path, &m));
    out->values = xcalloc(p->thread_count * places->metric_count + 1, sizeof *out->values);
    out->traces = xcalloc(p->thread_count + 1, sizeof *out->traces);
    out->marks = xcalloc(p->thread_count + 1, sizeof *out->marks);
    out->growth = xcalloc(p->thread_count + 1, sizeof *out->growth);
    lanes_find(&lanes, &m, places->tree, p->path);
    /* A process that still runs may have more threads by now: those wait for the next build. */
    f.row = row = thread_rows(p, &lanes);
    lanes_limit(&lanes, row);

    AUTO(map_deinit) struct map waits = waiting_find(&m);

    for (uint32_t number = 0; measurement_next_lane(&m, &number);) {
        struct lane lane;

        lane_init(&lane, &lanes, &m, number);
        fill_values(&f, &lane, &m);
        fill_trace(&f, &lane, &m);
        fill_waiting(&f, &lane, &waits);
        lane_deinit(&lane);
    }
    lanes_deinit(&lanes);
    measurement_close(&m);
    devices_fill(p, places, out);
    return NULL;
}

void process_data_deinit(struct process_data *d)
{
    for (size_t i = 0; d->values && i < d->thread_count * d->metric_count; i++)
        vec_deinit(&d->values[i]);
    for (size_t i = 0; d->traces && i < d->thread_count; i++)
        vec_deinit(&d->traces[i]);
    for (size_t i = 0; d->marks && i < d->thread_count; i++)
        vec_deinit(&d->marks[i]);
    for (size_t i = 0; d->growth && i < d->thread_count; i++)
        vec_deinit(&d->growth[i]);
    free(d->values);
    free(d->traces);
    free(d->marks);
    free(d->growth);
    *d = (struct process_data){0};
}
