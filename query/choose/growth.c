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

bool growth_is_known(const struct growth *g, uint32_t metric)
{
    const struct hqdb_metric *m = &g->db->metrics[metric];

    return m->flags & HQDB_METRIC_COUNTED && (m->flags & HQDB_METRIC_EXACT || g->steps[metric].len);
}

/* How many steps are not later. */
static size_t steps_by(const struct growth *g, uint32_t metric, uint64_t us)
{
    const struct growth_steps *steps = &g->steps[metric];

    return SEARCH(i, steps->len, steps->data[i].us <= us);
}

uint64_t growth_at(const struct growth *g, uint32_t metric, uint64_t us)
{
    size_t n = steps_by(g, metric, us);

    return n ? g->steps[metric].data[n - 1].sum : 0;
}

/* A clock always runs: where it has no step it was not looked at. */
static bool was_looked_at(const struct growth *g, uint32_t metric, uint64_t us)
{
    const struct hqdb_metric *m = &g->db->metrics[metric];
    size_t n = steps_by(g, metric, us);

    return m->flags & HQDB_METRIC_EXACT || m->dimension != DIM_SECONDS || (n && g->steps[metric].data[n - 1].us == us);
}

double growth_between(const struct growth *g, uint32_t metric, uint64_t from_us, uint64_t to_us)
{
    if (!growth_is_known(g, metric) || !was_looked_at(g, metric, from_us) || !was_looked_at(g, metric, to_us))
        return NAN;
    return (double)(growth_at(g, metric, to_us) - growth_at(g, metric, from_us));
}
