/* SPDX-License-Identifier: BSD-3-Clause */
/* The period of an event that processes were sampled by at different rates. */
#include "common/numbers.h"
#include "db/build/builder.h"
#include "db/model/model_data.h"

enum { UNITS_MOST = 1 << 20 }; /* in a period: more would leave no room for weights */

/* Where one event was sampled at different rates, the period is what all of theirs are multiples of, or nearly so, and
 * records of traces weigh as much more. */
void build_settle_periods(struct builder *b)
{
    for (uint32_t metric = 0; metric < b->model->metrics.len; metric++) {
        struct hqdb_metric *m = &b->model->metrics.data[metric];
        uint64_t most = 0, unit = 0;

        for (size_t i = 0; i < b->process_count && !(m->flags & HQDB_METRIC_SPANS); i++)
            for (size_t e = 0; e < b->processes[i].event_count; e++) {
                uint64_t period = b->metrics[i][e] == metric ? b->processes[i].events[e].period : 0;

                most = period > most ? period : most;
                unit = common_divisor(unit, period);
            }
        if (!most || unit == most)
            continue;
        m->flags |= HQDB_METRIC_WEIGHED;
        m->period = most / unit <= UNITS_MOST ? unit : most / UNITS_MOST + 1;
    }
}
