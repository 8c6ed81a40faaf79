/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/views/views.h"

static const struct view_row *const rows[VIEW_KINDS] = {
#define VIEW(kind, row, ...) [VIEW_##kind] = &view_##row,
#include "query/grammar/views.def"
#undef VIEW
};

const struct view_row *view_find(enum view_kind kind)
{
    return rows[kind];
}

struct hq_error *roots_prepared(struct run *run, struct nodes *out)
{
    vec_append(out, run->prepared.data, run->prepared.len);
    return NULL;
}

struct measure measure_of_view(const char *name, const char *description, enum dim dim, double scale)
{
    static const int64_t none[1]; /* its sums are never read */

    return (struct measure){
        .name = name,
        .event = name,
        .description = description,
        .dim = dim,
        .scale = scale,
        .flags = HQDB_METRIC_NO_COUNTS,
        .here_measure = SIZE_MAX,
        .old_measure = SIZE_MAX,
        .factor = 1,
        .share_of = SIZE_MAX,
        .no_total = true,
        .of_view = true,
        .sums = none,
    };
}

void measure_add(struct measure *m, int64_t amount)
{
    m->no_total = false;
    sum_add(&m->total, amount);
}
