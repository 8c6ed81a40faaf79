/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/tools/measurements/reader.h"

static void check_commands(const struct reader *r)
{
    const struct column *commands = &r->lane[0].kind[HQM_COMMANDS];

    for (uint32_t i = 0; i < commands->count; i++) {
        const struct hqm_command *x = (const struct hqm_command *)commands->data + i;
        bool timed = !(x->flags & HQM_COMMAND_UNTIMED);

        if (!x->number)
            continue; /* claimed, and its process was killed */
        measurements_check(x->lane && x->lane < r->lanes && x->node < r->lane[x->lane].kind[HQM_NODES].count,
                           "node of command");
        measurements_check(((const struct hqm_node *)r->lane[x->lane].kind[HQM_NODES].data)[x->node].kind_module >>
                                   HQM_MODULE_BITS ==
                               HQM_NODE_DEVICE,
                           "node of command is none");
        measurements_check(x->thread < hqm_thread_count(r->header, r->lane[0].kind[HQM_THREADS].count),
                           "thread of command");
        measurements_check(x->queue && x->queue <= r->lane[0].kind[HQM_QUEUES].count, "queue of command");
        measurements_check(x->kind >= HQM_COMMAND_KERNEL && x->kind <= HQM_COMMAND_OTHER, "kind of command");
        measurements_check(x->called_ns <= x->returned_ns && x->called_ns <= x->seen_ns, "times of the host");
        measurements_check(timed || !x->end_ns, "times of a command without");
        measurements_total.commands++;
        measurements_total.device_ns += x->end_ns - x->start_ns;
    }
}

/* What is not kept one by one. */
static void check_command_sums(const struct reader *r)
{
    const struct column *sums = &r->lane[0].kind[HQM_SUMS];

    for (uint32_t i = 0; i < sums->count; i++) {
        const struct hqm_command_sum *x = (const struct hqm_command_sum *)sums->data + i;

        measurements_check(x->lane && x->lane < r->lanes && x->node < r->lane[x->lane].kind[HQM_NODES].count,
                           "node of a sum");
        measurements_check(x->queue && x->queue <= r->lane[0].kind[HQM_QUEUES].count, "queue of a sum");
        measurements_check(x->timed <= x->commands && x->moving <= x->commands && x->working <= x->commands,
                           "counts of a sum");
        measurements_total.commands += x->commands;
        measurements_total.device_ns += x->time_ns;
    }
}

static void check_pairs(const struct reader *r)
{
    const struct column *pairs = &r->lane[0].kind[HQM_PAIRS];

    for (uint32_t i = 0; i < pairs->count; i++) {
        const struct hqm_pair *x = (const struct hqm_pair *)pairs->data + i;

        measurements_check(x->queue && x->queue <= r->lane[0].kind[HQM_QUEUES].count, "queue of a reading");
        measurements_check(x->before_ns <= x->after_ns, "times around a reading");
        measurements_total.readings++;
    }
}

static void check_host(const struct reader *r)
{
    const struct column *host = &r->lane[0].kind[HQM_HOST];

    for (uint32_t i = 0; i < host->count; i++) {
        const struct hqm_host *x = (const struct hqm_host *)host->data + i;

        measurements_check(x->thread < hqm_thread_count(r->header, r->lane[0].kind[HQM_THREADS].count),
                           "thread that waited");
        measurements_check(x->from_ns <= x->to_ns, "times of a wait");
    }
}

void measurements_check_devices(const struct reader *r)
{
    check_commands(r);
    check_command_sums(r);
    check_host(r);
    check_pairs(r);
}
