/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/build/devices.h"

#include "common/intern.h"
#include "common/mem.h"
#include "db/build/device_clock.h"

#include <stdlib.h>
#include <string.h>

/* ---- queues ---- */

static void scan_queues(struct process *p, const struct measurement *m)
{
    struct measured records = measured_records(m, HQM_QUEUES, 0);
    VEC(struct process_queue) queues = {0};

    for (const struct hqm_queue *q; (q = measured_next(&records));) {
        if (records.number >= m->map.size / sizeof *q) { /* no file of this size has so many */
            p->damaged = true;
            break;
        }
        while (queues.len <= records.number) /* one of a gap is lost */
            vec_push(&queues, (struct process_queue){.device = "unknown device"});
        queues.data[records.number] = (struct process_queue){
            .device = arena_strdup(&p->arena, measurement_string(m, q->device)),
            .queue = {.unit = q->unit, .context = q->context, .flags = q->flags}};
    }
    p->queue_count = queues.len;
    p->queues = ARENA_ARRAY(&p->arena, queues.len, struct process_queue);
    if (queues.len)
        memcpy(p->queues, queues.data, queues.len * sizeof *queues.data);
    vec_deinit(&queues);
}

/* They are the last threads, as their numbers are the largest. */
static void add_threads(struct process *p)
{
    struct process_thread *threads = ARENA_ARRAY(&p->arena, p->thread_count + p->queue_count, struct process_thread);

    if (p->thread_count)
        memcpy(threads, p->threads, p->thread_count * sizeof *threads);
    for (size_t i = 0; i < p->queue_count; i++) {
        uint32_t number = HQDB_QUEUE | (uint32_t)i;

        threads[p->thread_count + i] = (struct process_thread){
            .number = number, .creator = number, .creator_frame = TREE_NONE, .end_us = p->header.end_us};
    }
    p->threads = threads;
    p->thread_count += p->queue_count;
}

/* ---- times ---- */

/* Queues of one device have one clock: that of the first of them. */
static void share_clocks(const struct process *p, uint32_t *of_queue)
{
    AUTO(intern_deinit) struct intern devices = {0};
    AUTO(map_deinit) struct map first = {0};

    for (uint32_t i = 0; i < p->queue_count; i++) {
        uint64_t device = intern_add(&devices, p->queues[i].device);

        of_queue[i] = (uint32_t)*map_insert(&first, device << 32 | p->queues[i].queue.unit, i, NULL);
    }
}

static struct device_clock *clocks_of(const struct process *p, const struct measurement *m,
                                      const struct hqm_command *commands, size_t count, uint32_t *of_queue)
{
    struct measured pairs = measured_records(m, HQM_PAIRS, 0);
    struct device_clock *clocks = xcalloc(p->queue_count + 1, sizeof *clocks);

    share_clocks(p, of_queue);
    for (size_t i = 0; i < count; i++) {
        const struct hqm_command *c = &commands[i];

        if (!(c->flags & HQM_COMMAND_UNTIMED))
            device_clock_bound(&clocks[of_queue[c->queue - 1]], c->called_ns, c->returned_ns, c->queued_ns, c->end_ns,
                               c->seen_ns);
    }
    for (const struct hqm_pair *pair; (pair = measured_next(&pairs));)
        if (pair->queue && pair->queue <= p->queue_count)
            device_clock_pair(&clocks[of_queue[pair->queue - 1]], pair->before_ns, pair->after_ns, pair->device_ns);
    for (uint32_t i = 0; i < p->queue_count; i++)
        device_clock_fit(&clocks[i]);
    return clocks;
}

static uint64_t since(const struct process *p, uint64_t ns)
{
    return ns > p->header.start_monotonic_ns ? ns - p->header.start_monotonic_ns : 0;
}

static void bring_times(struct process *p, const struct measurement *m, const struct hqm_command *commands)
{
    AUTO_FREE uint32_t *of_queue = xcalloc(p->queue_count + 1, sizeof *of_queue);
    struct device_clock *clocks = clocks_of(p, m, commands, p->command_count, of_queue);

    for (size_t i = 0; i < p->command_count; i++) {
        const struct hqm_command *c = &commands[i];
        struct hqdb_command *to = &p->commands[i].command;

        to->called_ns = since(p, c->called_ns);
        if (c->flags & HQM_COMMAND_UNTIMED)
            continue;
        to->start_ns = since(p, device_clock_host(&clocks[of_queue[c->queue - 1]], c->start_ns));
        to->time_ns = c->end_ns > c->start_ns ? c->end_ns - c->start_ns : 0;
    }
    for (uint32_t i = 0; i < p->queue_count; i++) {
        p->queues[i].queue.error_ns = (uint64_t)(clocks[of_queue[i]].error + 0.5);
    }
    for (uint32_t i = 0; i < p->queue_count; i++)
        device_clock_deinit(&clocks[i]);
    free(clocks);
}

/* Finds the time at which a command had everything that it had to wait for. With HQM_COMMAND_USER the last was an event
 * of the program's own; where its time is not known, that of the command is not either. */
static void find_ready_of(struct hqdb_command *to, const struct process *p, const struct hqm_command *c,
                          const struct map *ends, const struct map *set)
{
    bool user = false, known = false;

    for (unsigned k = 0; k < HQM_COMMAND_AFTER && c->after[k]; k++) {
        const uint64_t *end = map_find(ends, c->after[k]), *event = map_find(set, c->after[k]);
        uint64_t at = end ? p->commands[*end].command.start_ns + p->commands[*end].command.time_ns : event ? *event : 0;

        known |= event != NULL;
        user = at > to->ready_ns ? event != NULL : user;
        to->ready_ns = at > to->ready_ns ? at : to->ready_ns;
    }
    if (!(c->flags & HQM_COMMAND_USER))
        return;
    if (!known)
        to->ready_ns = 0;
    else if (!user)
        to->flags &= (uint16_t)~HQM_COMMAND_USER;
}

/* A command and where it stands in both lists, in the order in which its queue got it. */
struct given {
    const struct hqm_command *command;
    size_t at;
};

static int compare_given(const void *pa, const void *pb)
{
    const struct hqm_command *a = ((const struct given *)pa)->command, *b = ((const struct given *)pb)->command;

    if (a->queue != b->queue)
        return a->queue < b->queue ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* In an unordered queue commands wait for the barriers before them, and barriers for what is before these. A barrier
 * that tells no times ends when all has come for which it waits. */
static void find_fences(struct process *p, const struct hqm_command *commands)
{
    AUTO_FREE struct given *given = xcalloc(p->command_count + 1, sizeof *given);
    uint64_t all = 0, fence = 0;
    size_t n = 0;

    for (size_t i = 0; i < p->command_count; i++)
        if (p->queues[commands[i].queue - 1].queue.flags & HQM_QUEUE_UNORDERED)
            given[n++] = (struct given){&commands[i], i};
    if (n)
        qsort(given, n, sizeof *given, compare_given);
    for (size_t i = 0; i < n; i++) {
        const struct hqm_command *c = given[i].command;
        struct hqdb_command *to = &p->commands[given[i].at].command;
        uint64_t at, end;

        if (i && c->queue != given[i - 1].command->queue)
            all = fence = 0;
        at = c->flags & HQM_COMMAND_ALL && all > fence ? all : fence;
        if (at > to->ready_ns && (to->ready_ns || !(to->flags & HQM_COMMAND_USER))) {
            to->ready_ns = at;
            to->flags &= (uint16_t)~HQM_COMMAND_USER;
        }
        end = c->flags & HQM_COMMAND_UNTIMED ? to->ready_ns : to->start_ns + to->time_ns;
        all = end > all ? end : all;
        fence = c->flags & HQM_COMMAND_FENCE && end > fence ? end : fence;
    }
}

/* Also reads the records of the host: when it waited, and when it set events of its own. */
static void find_ready(struct process *p, const struct measurement *m, const struct hqm_command *commands)
{
    AUTO(map_deinit) struct map ends = {0};
    AUTO(map_deinit) struct map set = {0};
    struct measured records = measured_records(m, HQM_HOST, 0);
    VEC(struct process_host_wait) waits = {0};

    for (const struct hqm_host *h; (h = measured_next(&records));) {
        if (h->number)
            map_put(&set, h->number, since(p, h->from_ns));
        else if (h->to_ns >= h->from_ns && h->from_ns)
            vec_push(&waits, (struct process_host_wait){h->thread, since(p, h->from_ns), since(p, h->to_ns)});
    }
    p->host_wait_count = waits.len;
    p->host_waits = ARENA_ARRAY(&p->arena, waits.len, struct process_host_wait);
    if (waits.len)
        memcpy(p->host_waits, waits.data, waits.len * sizeof *waits.data);
    vec_deinit(&waits);
    for (size_t i = 0; i < p->command_count; i++)
        map_put(&ends, commands[i].number, i);
    for (size_t i = 0; i < p->command_count; i++)
        find_ready_of(&p->commands[i].command, p, &commands[i], &ends, &set);
    find_fences(p, commands);
}

/* ---- commands ---- */

/* Compares commands, or sums of them, by lane; both begin with it. */
static int compare_lanes(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Brings nodes of lanes, one lane after the other, to the tree. */
struct placing {
    struct process *process;
    const struct measurement *measurement;
    struct lanes *lanes;
    struct calltree *tree;
    struct lane lane;
    bool begun;
};

/* TREE_NONE: the call path is not there, which is damage. */
static uint32_t place(struct placing *p, uint32_t in_lane, uint32_t of_thread, uint32_t node)
{
    uint32_t thread = lanes_thread(p->lanes, of_thread), frame;

    if (!p->begun || in_lane != p->lane.number) {
        if (p->begun)
            lane_deinit(&p->lane);
        lane_init(&p->lane, p->lanes, p->measurement, in_lane);
        p->begun = true;
    }
    frame = thread == TREE_NONE ? TREE_NONE : lane_add(&p->lane, p->tree, thread, node);
    if (frame == TREE_NONE)
        p->process->damaged = true;
    else
        p->tree->sampled.data[frame] = true;
    return frame;
}

static void placing_deinit(struct placing *p)
{
    if (p->begun)
        lane_deinit(&p->lane);
}

struct hqm_commands {
    struct hqm_command *data;
    size_t len, cap;
};

static void read_commands(const struct process *p, const struct measurement *m, struct hqm_commands *out)
{
    struct measured records = measured_records(m, HQM_COMMANDS, 0);

    for (const struct hqm_command *c; (c = measured_next(&records));)
        if (c->queue && c->queue <= p->queue_count)
            vec_push(out, *c);
    if (out->len)
        qsort(out->data, out->len, sizeof *out->data, compare_lanes);
}

static void place_commands(struct process *p, struct placing *placing, struct hqm_commands *commands)
{
    size_t n = 0;

    p->commands = ARENA_ARRAY(&p->arena, commands->len, struct process_command);
    for (size_t i = 0; i < commands->len; i++) {
        const struct hqm_command *c = &commands->data[i];
        uint32_t frame = place(placing, c->lane, c->thread, c->node);

        if (frame == TREE_NONE)
            continue;
        p->commands[n] = (struct process_command){
            .frame = frame,
            .thread = c->thread,
            .queue = c->queue - 1,
            .items = c->items,
            .command = {.kind = c->kind, .flags = c->flags, .bytes = c->bytes},
        };
        commands->data[n++] = *c;
    }
    p->command_count = n;
}

static void read_sums(struct process *p, const struct measurement *m, struct placing *placing)
{
    struct measured records = measured_records(m, HQM_SUMS, 0);
    VEC(struct hqm_command_sum) sums = {0};

    for (const struct hqm_command_sum *s; (s = measured_next(&records));)
        if (s->queue && s->queue <= p->queue_count)
            vec_push(&sums, *s);
    vec_sort(&sums, compare_lanes);
    p->command_sums = ARENA_ARRAY(&p->arena, sums.len, struct process_command_sum);
    vec_foreach(s, &sums) {
        uint32_t frame = place(placing, s->lane, s->thread, s->node);

        if (frame != TREE_NONE)
            p->command_sums[p->command_sum_count++] = (struct process_command_sum){frame, s->queue - 1, *s};
    }
    vec_deinit(&sums);
}

void devices_scan(struct process *p, const struct measurement *m, struct lanes *lanes, struct calltree *tree)
{
    struct hqm_commands commands = {0};
    struct placing placing = {.process = p, .measurement = m, .lanes = lanes, .tree = tree};

    scan_queues(p, m);
    if (!p->queue_count)
        return;
    add_threads(p);
    read_commands(p, m, &commands);
    place_commands(p, &placing, &commands);
    read_sums(p, m, &placing);
    placing_deinit(&placing);
    bring_times(p, m, commands.data);
    find_ready(p, m, commands.data);
    vec_deinit(&commands);
}

static uint32_t profile_of(const struct process *p, uint32_t first_profile, uint32_t thread)
{
    uint32_t row = process_thread(p, thread);

    return row == TREE_NONE ? HQDB_NONE : first_profile + row;
}

void devices_add(const struct process *p, const uint32_t *frames, uint32_t first_profile, struct model *model)
{
    uint32_t first_queue = first_profile + (uint32_t)(p->thread_count - p->queue_count);

    for (size_t i = 0; i < p->queue_count; i++) {
        struct hqdb_queue queue = p->queues[i].queue;

        queue.profile = first_queue + (uint32_t)i;
        model_queue(model, &queue, p->queues[i].device);
    }
    for (size_t i = 0; i < p->command_count; i++) {
        struct hqdb_command c = p->commands[i].command;

        c.frame = frames[p->commands[i].frame];
        c.profile = first_queue + p->commands[i].queue;
        c.host_profile = profile_of(p, first_profile, p->commands[i].thread);
        if (c.frame != HQDB_NONE)
            model_command(model, &c);
    }
    for (size_t i = 0; i < p->host_wait_count; i++) {
        uint32_t profile = profile_of(p, first_profile, p->host_waits[i].thread);

        if (profile != HQDB_NONE)
            model_host_wait(model, &(struct hqdb_host_wait){.profile = profile,
                                                            .from_ns = p->host_waits[i].from_ns,
                                                            .to_ns = p->host_waits[i].to_ns});
    }
}
