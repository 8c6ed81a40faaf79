/* SPDX-License-Identifier: BSD-3-Clause */
/* The second pass over commands of devices: values and traces of the queues' profiles. */
#include "db/build/devices.h"

#include "common/mem.h"

#include <stdlib.h>
#include <string.h>

bool devices_are_traced(const struct process_event *e)
{
    return e->flags & HQM_EVENT_DEVICE && !strcmp(e->name, "GPU_TIME");
}

static int64_t amount_of(const char *event, const struct process_command *c)
{
    uint64_t ns = c->command.time_ns;

    if (!strcmp(event, "GPU_TIME"))
        return (int64_t)ns;
    if (!strcmp(event, "GPU_KERNEL"))
        return c->command.kind == HQM_COMMAND_KERNEL ? (int64_t)ns : 0;
    if (!strcmp(event, "GPU_COPY"))
        return c->command.kind == HQM_COMMAND_COPY ? (int64_t)ns : 0;
    if (!strcmp(event, "GPU_BYTES"))
        return (int64_t)c->command.bytes;
    if (!strcmp(event, "GPU_ITEMS"))
        return (int64_t)c->items;
    return !strcmp(event, "GPU_COMMANDS");
}

/* Like amount_of, for the sum of many commands, with the number of those that have an amount. */
static struct db_value amounts_of(const char *event, const struct hqm_command_sum *s)
{
    int64_t ns = (int64_t)s->time_ns, timed = (int64_t)s->timed;

    if (!strcmp(event, "GPU_TIME"))
        return (struct db_value){.sum = ns, .count = timed};
    if (!strcmp(event, "GPU_KERNEL") || !strcmp(event, "GPU_COPY"))
        return s->kind == (event[4] == 'K' ? HQM_COMMAND_KERNEL : HQM_COMMAND_COPY)
                   ? (struct db_value){.sum = ns, .count = timed}
                   : (struct db_value){0};
    if (!strcmp(event, "GPU_BYTES"))
        return (struct db_value){.sum = (int64_t)s->bytes, .count = (int64_t)s->moving};
    if (!strcmp(event, "GPU_ITEMS"))
        return (struct db_value){.sum = (int64_t)s->items, .count = (int64_t)s->working};
    return (struct db_value){.sum = (int64_t)s->commands, .count = (int64_t)s->commands};
}

static void add_values(const struct process *p, const struct process_places *places, struct process_data *out,
                       size_t event)
{
    uint32_t metric = places->metrics[event];
    size_t first = out->thread_count - p->queue_count;
    const char *name = p->events[event].name;

    if (metric == HQDB_NONE || !name)
        return;
    for (size_t i = 0; i < p->command_count; i++) {
        const struct process_command *c = &p->commands[i];
        uint32_t frame = places->frames[c->frame];
        int64_t amount = amount_of(name, c);

        if (frame != HQDB_NONE && amount)
            vec_push(&out->values[(first + c->queue) * out->metric_count + metric],
                     (struct db_value){.frame = frame, .sum = amount, .count = 1});
    }
    for (size_t i = 0; i < p->command_sum_count; i++) {
        const struct process_command_sum *s = &p->command_sums[i];
        struct db_value value = amounts_of(name, &s->sum);

        value.frame = places->frames[s->frame];
        if (value.frame != HQDB_NONE && value.sum)
            vec_push(&out->values[(first + s->queue) * out->metric_count + metric], value);
    }
}

static int compare_starts(const void *pa, const void *pb)
{
    const struct process_command *a = *(const struct process_command *const *)pa;
    const struct process_command *b = *(const struct process_command *const *)pb;

    if (a->command.start_ns != b->command.start_ns)
        return a->command.start_ns < b->command.start_ns ? -1 : 1;
    return (a->command.called_ns > b->command.called_ns) - (a->command.called_ns < b->command.called_ns);
}

/* Its outermost caller in the database, which has none above main. */
static uint32_t top_of(const struct process_places *places, uint32_t frame)
{
    uint32_t top = HQDB_NONE;

    for (; frame != TREE_NONE; frame = calltree_frame(places->tree, frame)->parent)
        top = places->frames[frame] == HQDB_NONE ? top : places->frames[frame];
    return top;
}

/* A span goes back to the record before it, so what was before a command is a record of nothing. Of commands that
 * overlap in an unordered queue the one that has begun later is drawn behind the end of the one before. */
static void add_span(const struct process_command *c, uint32_t frame, uint32_t top, uint32_t metric,
                     struct trace_list *trace)
{
    uint64_t last = trace->len ? vec_last(trace).time_us : 0, start = c->command.start_ns / DEVICE_TICK_NS;
    uint64_t end = (c->command.start_ns + c->command.time_ns) / DEVICE_TICK_NS;

    start = start < last ? last : start;
    if (!trace->len || start > last || vec_last(trace).frame == frame)
        vec_push(trace, (struct db_trace_record){start, top, metric, 0});
    if (end > start)
        vec_push(trace, (struct db_trace_record){end, frame, metric, (uint32_t)(end - start)});
}

static void add_trace(const struct process *p, const struct process_places *places, struct process_data *out,
                      uint32_t metric)
{
    AUTO_FREE const struct process_command **order = xcalloc(p->command_count + 1, sizeof *order);
    size_t first = out->thread_count - p->queue_count;

    for (size_t i = 0; i < p->command_count; i++)
        order[i] = &p->commands[i];
    if (p->command_count)
        qsort(order, p->command_count, sizeof *order, compare_starts);
    for (size_t i = 0; i < p->command_count; i++) {
        uint32_t frame = places->frames[order[i]->frame];
        uint32_t top = top_of(places, order[i]->frame);

        if (frame != HQDB_NONE && top != HQDB_NONE && !(order[i]->command.flags & HQM_COMMAND_UNTIMED))
            add_span(order[i], frame, top, metric, &out->traces[first + order[i]->queue]);
    }
}

void devices_fill(const struct process *p, const struct process_places *places, struct process_data *out)
{
    for (size_t e = 0; e < p->event_count; e++) {
        if (!(p->events[e].flags & HQM_EVENT_DEVICE))
            continue;
        add_values(p, places, out, e);
        if (devices_are_traced(&p->events[e]) && places->metrics[e] != HQDB_NONE)
            add_trace(p, places, out, places->metrics[e]);
    }
}
