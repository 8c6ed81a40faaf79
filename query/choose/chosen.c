/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/choose/chosen.h"
#include "common/mem.h"
#include "common/search.h"
#include "query/choose/slices.h"
#include "query/query.h"

static int by_frame(const void *a, const void *b)
{
    const struct db_value *x = a, *y = b;

    return x->frame != y->frame ? (x->frame < y->frame ? -1 : 1)
                                : (x->profile > y->profile) - (x->profile < y->profile);
}

struct hq_error *chosen_init(struct chosen *c, const struct selection *s, uint32_t metric)
{
    const struct db *db = s->tree.db;

    *c = (struct chosen){.s = s, .metric = metric};
    if (!s->sliced)
        return NULL;
    AUTO_FREE int64_t *sums = xcalloc(db->frame_count + 1, sizeof *sums);
    AUTO_FREE int64_t *counts = xcalloc(db->frame_count + 1, sizeof *counts);

    for (uint32_t p = 0; p < db->profile_count; p++) {
        if (s->interrupted && *s->interrupted)
            return hq_error_new(QUERY_INTERRUPTED, "interrupted");
        if (!selection_has_profile(s, p))
            continue;
        HQ_TRY(slices_profile(s, p, metric, sums, counts));
        for (uint32_t f = 0; f < db->frame_count; f++) {
            if (sums[f] || counts[f])
                vec_push(&c->sliced, (struct db_value){f, p, sums[f], (uint64_t)counts[f]});
            sums[f] = counts[f] = 0;
        }
    }
    vec_sort(&c->sliced, by_frame);
    return NULL;
}

void chosen_deinit(struct chosen *c)
{
    vec_deinit(&c->sliced);
}

struct chosen_values chosen_values(const struct chosen *c, struct db_range frames)
{
    struct chosen_values v = {.s = c->s};
    size_t n = c->sliced.len;

    if (!c->s->sliced) {
        v.all = db_frame_values(c->s->tree.db, frames, c->metric);
        return v;
    }
    v.at = c->sliced.data + SEARCH(i, n, c->sliced.data[i].frame < frames.first);
    v.end = c->sliced.data + SEARCH(i, n, c->sliced.data[i].frame < frames.last);
    return v;
}

bool chosen_next(struct chosen_values *v, struct db_value *out)
{
    const struct selection *s = v->s;

    if (s->sliced) { /* only of kept paths */
        if (v->at == v->end)
            return false;
        *out = *v->at++;
        return true;
    }
    while (db_value_next(&v->all, out))
        if (out->profile < s->tree.db->profile_count && selection_has_profile(s, out->profile) &&
            (!s->keep || s->keep[out->frame]))
            return true;
    return false;
}
