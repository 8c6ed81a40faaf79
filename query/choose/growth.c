/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/choose/growth.h"
#include "common/mem.h"
#include "common/search.h"
#include "common/units.h"
#include "common/vec.h"
#include <math.h>

struct growth growth_of(const struct timeline *time, uint32_t profile)
{
    struct growth out = {time->db, xcalloc(time->db->metric_count + 1, sizeof *out.steps)};
    struct db_growths all = db_growths_of(time->db, profile);
    int64_t offset = timeline_offset(time, profile);
    struct db_growth g;

    while (db_growth_next(&all, &g)) {
        struct growth_steps *steps = g.metric < out.db->metric_count ? &out.steps[g.metric] : NULL;
        uint64_t us = timeline_shift(offset, g.time_us);

        if (steps)
            vec_push(steps, (struct growth_step){us, (steps->len ? vec_last(steps).sum : 0) + g.amount});
    }
    return out;
}

void growth_deinit(struct growth *g)
{
    for (size_t m = 0; g->steps && m < g->db->metric_count; m++)
        vec_deinit(&g->steps[m]);
    free(g->steps);
    *g = (struct growth){0};
}

/* Is it counted? An exact one that has not grown was. */
static bool is_known(const struct growth *g, uint32_t metric)
{
    const struct hqdb_metric *m = &g->db->metrics[metric];

    return m->flags & HQDB_METRIC_COUNTED && (m->flags & HQDB_METRIC_EXACT || g->steps[metric].len);
}

bool growth_is_clock(const struct db *db, uint32_t metric)
{
    const struct hqdb_metric *m = &db->metrics[metric];

    return !(m->flags & HQDB_METRIC_EXACT) && m->dimension == DIM_SECONDS;
}

/* The total at an instant. False: a clock always runs, so where it has no step it was not looked at. */
static bool total_at(const struct growth *g, uint32_t metric, uint64_t us, uint64_t *total)
{
    const struct growth_steps *steps = &g->steps[metric];
    size_t n = SEARCH(i, steps->len, steps->data[i].us <= us);

    *total = n ? steps->data[n - 1].sum : 0;
    return !growth_is_clock(g->db, metric) || (n && steps->data[n - 1].us == us);
}

double growth_between(const struct growth *g, uint32_t metric, uint64_t from_us, uint64_t to_us)
{
    uint64_t from, to;

    if (!is_known(g, metric) || !total_at(g, metric, from_us, &from) || !total_at(g, metric, to_us, &to))
        return NAN;
    return (double)(to - from);
}
