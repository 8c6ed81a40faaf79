/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hot path: from the top, the child with the largest value while it has at least the threshold share of its parent
 * ([presenting], section V).
 */
#include "query/recursion.h"
#include "query/rows.h"
#include "query/views/views.h"
#include <math.h>

static struct entry *hottest(struct run *run, struct entry **entries, size_t n, double *value)
{
    struct entry *best = NULL;

    rows_sort(run, entries, n);
    *value = NAN;
    for (size_t i = 0; i < n; i++) {
        struct point at = entry_point(run, entries[i], NULL);
        double x = program_number(run->by, &at);

        if (!isnan(x) && (isnan(*value) || x > *value)) {
            *value = x;
            best = entries[i];
        }
    }
    return best;
}

/* One row for the same row of each round of a recursion: inclusive of the outermost, exclusive of all. */
static struct entry *fold_rounds(struct run *run, struct entry **first, size_t period, size_t times)
{
    uint32_t *contexts = ARENA_ARRAY(&run->arena, times, uint32_t);
    struct node n = first[0]->node;
    struct entry *e;

    for (size_t i = 0; i < times; i++)
        contexts[i] = first[i * period]->node.context;
    n.inc = n.exc = set_sorted(contexts, times, &run->arena);
    e = entry_new(run, &n, first[0]->parent, first[0]->depth);
    e->hot = true;
    e->times = (uint32_t)times;
    return e;
}

/* A path through a deep recursion is long and says the same again and again. */
static void fold_recursion(struct run *run, struct entries *shown)
{
    AUTO_FREE uint32_t *scopes = xmalloc((shown->len + 1) * sizeof *scopes);
    size_t len = shown->len, out = 0, period;

    for (size_t i = 0; i < len; i++)
        scopes[i] = shown->data[i]->node.context == HQDB_NONE ? HQDB_NONE - (uint32_t)i : shown->data[i]->node.scope;
    for (size_t i = 0; i < len;) {
        size_t times = recursion_times(scopes, len, i, &period);

        for (size_t k = 0; k < period; k++, out++) {
            struct entry *e = shown->data[i + k];

            shown->data[out] = times > 1 ? fold_rounds(run, &shown->data[i + k], period, times) : e;
            shown->data[out]->depth = (int)out;
        }
        if (times > 1 && period > 1)
            run_note(run, "%s to %s repeat %zu times, one below the other", entry_name(run, shown->data[out - period]),
                     entry_name(run, shown->data[out - 1]), times);
        i += period * times;
    }
    shown->len = out;
}

/* Why the path goes no further, where a lower threshold would lead on. */
static void note_end(struct run *run, struct entry *next, double value, double parent)
{
    if (next && value > 0 && parent > 0)
        run_note(run, "the path ends where no child has the threshold share of its parent, %g %%: the largest, %s, has %.1f %%",
                 run->query->threshold, entry_name(run, next), 100 * value / parent);
}

void rows_walk_hot_path(struct run *run, struct entry **roots, size_t n, struct entries *shown)
{
    double share = run->query->threshold / 100, above = program_total(run->by, run->totals), value;
    struct entry *e = hottest(run, roots, n, &value);

    if (!run->query->view.of) {
        static const uint32_t top = 0;
        struct node all = node_of_context(run->tree, 0);

        all.inc = all.exc = (struct set){&top, 1};
        struct entry *program = entry_new(run, &all, NULL, 0);
        struct point at = entry_point(run, program, NULL);

        above = program_number(run->by, &at);
        if (e && !(value >= share * above))
            e = program;
    }
    while (e && !run_interrupted(run)) {
        struct point at = entry_point(run, e, NULL);
        double here = program_number(run->by, &at);

        e->hot = true;
        vec_push(shown, e);
        if (run->query->depth && e->depth + 1 >= (int)run->query->depth)
            break;
        entry_expand(run, e);
        e = e->node.context == 0 ? NULL : hottest(run, e->kids, e->kid_count, &value);
        if (!(value >= share * here) || here <= 0) {
            note_end(run, e, value, here);
            break;
        }
    }
    if (!run->complete && !run->of_paths && !run->query->all && !run_interrupted(run))
        fold_recursion(run, shown);
}
