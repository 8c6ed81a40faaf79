/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/tools/measurements/reader.h"

#include <stdio.h>
#include <string.h>

void measurements_print_node(const struct reader *r, const struct hqm_node *nodes, uint32_t n)
{
    if (nodes[n].kind_module >> HQM_MODULE_BITS == HQM_NODE_ROOT)
        return;
    if (nodes[n].parent) {
        measurements_print_node(r, nodes, nodes[n].parent);
        putchar(';');
    }
    uint32_t module = nodes[n].kind_module & ((1u << HQM_MODULE_BITS) - 1);
    if (nodes[n].kind_module >> HQM_MODULE_BITS == HQM_NODE_DEVICE) {
        printf("%s", measurements_text(r, (uint32_t)nodes[n].offset));
        return;
    }
    if (nodes[n].kind_module >> HQM_MODULE_BITS >= HQM_NODE_INSIDE) {
        static const char *const names[] = {"inside", "wait", "phase"};
        printf("%s:%llu.%llu", names[(nodes[n].kind_module >> HQM_MODULE_BITS) - HQM_NODE_INSIDE],
               (unsigned long long)nodes[n].offset >> 32, (unsigned long long)nodes[n].offset & 0xffffffff);
        return;
    }
    if (nodes[n].kind_module >> HQM_MODULE_BITS == HQM_NODE_PARTIAL) {
        printf("partial:%llu", (unsigned long long)nodes[n].offset);
        return;
    }
    const char *name = module ? elf_names_at(&r->symbols[module - 1], nodes[n].offset) : NULL;
    const char *file = module ? strrchr(measurements_text(r, r->modules[module - 1].path), '/') : NULL;
    if (name)
        printf("%s", name);
    else
        printf("%s+0x%llx", file ? file + 1 : "?", (unsigned long long)nodes[n].offset);
}

/* What names a region is where it was opened. */
static void check_region_name(const struct reader *r, uint64_t name)
{
    uint64_t lane = name >> 32, node = name & 0xffffffff;

    measurements_check(lane && lane < r->lanes && node < r->lane[lane].kind[HQM_NODES].count, "region of node");
    measurements_check(((const struct hqm_node *)r->lane[lane].kind[HQM_NODES].data)[node].kind_module >>
                               HQM_MODULE_BITS ==
                           HQM_NODE_REGION,
                       "region of node is none");
}

static void check_regions(const struct reader *r, const struct lane *l)
{
    for (uint32_t i = 0; i < l->kind[HQM_REGIONS].count; i++) {
        const struct hqm_region *x = (const struct hqm_region *)l->kind[HQM_REGIONS].data + i;

        measurements_check(x->node < l->kind[HQM_NODES].count, "node of region");
        measurements_check(((const struct hqm_node *)l->kind[HQM_NODES].data)[x->node].kind_module >> HQM_MODULE_BITS ==
                               HQM_NODE_REGION,
                           "node of region is none");
        measurements_check(x->left <= x->entries, "region left more often than entered");
        measurements_check(x->thread < hqm_thread_count(r->header, r->lane[0].kind[HQM_THREADS].count),
                           "thread of region");
        measurements_check(x->runtime != HQM_RUNTIME_TASK || !x->entries, "tasks are counted");
        measurements_total.regions += x->runtime != HQM_RUNTIME_TASK;
        measurements_total.entries += x->entries;
    }
}

static void check_messages(const struct reader *r, const struct lane *l)
{
    for (uint32_t i = 0; i < l->kind[HQM_MESSAGES].count; i++) {
        const struct hqm_message *x = (const struct hqm_message *)l->kind[HQM_MESSAGES].data + i;

        measurements_check(x->node < l->kind[HQM_NODES].count, "node of message");
        measurements_check(x->thread < hqm_thread_count(r->header, r->lane[0].kind[HQM_THREADS].count),
                           "thread of message");
        measurements_check(x->peer >= -1 && (!x->group || !x->peer), "peer of message");
        measurements_check(x->group < r->lane[0].kind[HQM_STRINGS].count, "group of message");
        measurements_check(x->count || x->received, "no message");
    }
}

static void check_nodes(const struct reader *r, const struct lane *l)
{
    const struct column *nodes = &l->kind[HQM_NODES];
    const struct hqm_node *n = (const struct hqm_node *)nodes->data;
    uint32_t modules = r->lane[0].kind[HQM_MODULES].count;

    for (uint32_t i = 0; i < nodes->count; i++) {
        uint32_t kind = n[i].kind_module >> HQM_MODULE_BITS, module = n[i].kind_module & ((1u << HQM_MODULE_BITS) - 1);
        measurements_check(i == 0 ? kind == HQM_NODE_ROOT : kind > HQM_NODE_ROOT && kind <= HQM_NODE_DEVICE,
                           "node kind");
        if (kind == HQM_NODE_DEVICE)
            measurements_text(r, (uint32_t)n[i].offset);
        else if (kind >= HQM_NODE_INSIDE)
            check_region_name(r, n[i].offset);
        measurements_check(i == 0 || n[i].parent < i, "parent after child");
        measurements_check(module <= modules, "module number");
        uint32_t above = n[n[i].parent].kind_module >> HQM_MODULE_BITS;
        bool based = n[i].parent == 0 || above == HQM_NODE_PHASE ||
                     (above == HQM_NODE_INSIDE && n[i].offset == HQM_PARTIAL_KERNEL);
        measurements_check(kind != HQM_NODE_PARTIAL || (n[i].offset && n[i].offset < HQM_PARTIAL_MAX && based),
                           "partial node");
        measurements_check(kind != HQM_NODE_PHASE || n[i].parent == 0, "phase node");
        if (kind == HQM_NODE_FRAME && module)
            measurements_check(n[i].offset < r->modules[module - 1].end - r->modules[module - 1].base,
                               "offset beyond its module");
    }
}

static const struct hqm_event *event_of(const struct reader *r, uint32_t event)
{
    return (const struct hqm_event *)r->lane[0].kind[HQM_EVENTS].data + event;
}

static void print_path(const struct reader *r, const struct lane *l, const struct hqm_cell *c)
{
    uint64_t period = event_of(r, c->event)->period;

    printf("%llu %s ", (unsigned long long)(period ? c->sum / period : c->count),
           measurements_text(r, event_of(r, c->event)->name));
    measurements_print_node(r, (const struct hqm_node *)l->kind[HQM_NODES].data, c->node);
    putchar('\n');
}

/* Adds up the cells of each event. */
static void check_cells(const struct reader *r, const struct lane *l, bool paths, uint64_t sum[16])
{
    const struct column *cells = &l->kind[HQM_CELLS];

    for (uint32_t i = 0; i < cells->count; i++) {
        const struct hqm_cell *c = (const struct hqm_cell *)cells->data + i;
        measurements_check(c->node < l->kind[HQM_NODES].count, "node of cell");
        measurements_check(c->event < r->lane[0].kind[HQM_EVENTS].count, "event of cell");
        sum[c->event] += c->sum;
        measurements_total.sum[c->event] += c->sum;
        measurements_total.count[c->event] += c->count;
        if (paths)
            print_path(r, l, c);
    }
}

/* Adds up the samples of each event. */
static void check_trace(const struct reader *r, const struct lane *l, uint64_t weight[16])
{
    const struct column *trace = &l->kind[HQM_TRACE];
    const struct hqm_node *n = (const struct hqm_node *)l->kind[HQM_NODES].data;
    uint32_t events = r->lane[0].kind[HQM_EVENTS].count, start = 0;
    uint64_t last = 0;

    /* With a bounded size the oldest records are gone. */
    while (r->header->trace_dropped && start < trace->count &&
           !((const struct hqm_trace *)trace->data)[start].weight_event)
        start++;
    for (uint32_t i = start; i < trace->count; i++) {
        const struct hqm_trace *t = (const struct hqm_trace *)trace->data + i;
        uint32_t event = t->weight_event & 15;
        uint64_t time = (uint64_t)t->time_high << 32 | t->time_low;
        measurements_check(i > start || event == HQM_TRACE_THREAD, "a trace starts with its thread");
        measurements_check(time >= last, "time goes back");
        last = time;
        if (event == HQM_TRACE_THREAD)
            continue;
        if (event == HQM_TRACE_MARK && events <= HQM_TRACE_MARK && t->weight_event >> 4 >= HQM_MARK_COUNT) {
            measurements_check((t->weight_event >> 4) - HQM_MARK_COUNT < (int)events, "count of an event");
            measurements_total.counts++;
            continue;
        }
        measurements_check(t->node < l->kind[HQM_NODES].count, "node of trace");
        if (event == HQM_TRACE_MARK && events <= HQM_TRACE_MARK) {
            measurements_check(n[t->node].kind_module >> HQM_MODULE_BITS == HQM_NODE_REGION, "mark of no region");
            measurements_check(t->weight_event >> 4 == HQM_MARK_ENTER || t->weight_event >> 4 == HQM_MARK_LEAVE,
                               "mark");
            measurements_total.marks++;
            continue;
        }
        measurements_check(event < events, "event of trace");
        weight[event] += t->weight_event >> 4;
    }
}

void measurements_check_lane(struct reader *r, uint32_t number, bool paths)
{
    const struct lane *l = &r->lane[number];
    uint64_t weight[16] = {0}, sum[16] = {0};

    check_nodes(r, l);
    check_cells(r, l, paths, sum);
    check_regions(r, l);
    check_messages(r, l);
    check_trace(r, l, weight);
    /* Every sample is added to its cell before it goes into the trace; a killed process may have one more there. */
    for (uint32_t e = 0; e < r->lane[0].kind[HQM_EVENTS].count; e++) {
        const struct hqm_event *event = event_of(r, e);
        if (!(event->flags & HQM_EVENT_TRACED) || r->header->loss[HQM_LOSS_TRACE] || r->header->trace_dropped)
            continue;
        uint64_t traced = weight[e] * event->period;
        bool killed = r->header->state == HQM_RUNNING || r->header->exit_signal;
        measurements_check(sum[e] == traced || (killed && sum[e] > traced), "the trace does not add up to the profile");
    }
    measurements_total.nodes += l->kind[HQM_NODES].count;
    measurements_total.cells += l->kind[HQM_CELLS].count;
    measurements_total.trace += l->kind[HQM_TRACE].count;
    if (l->kind[HQM_NODES].count)
        measurements_total.lanes++;
}
