/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hot path: from the top, the child with the largest value while it has at least the threshold share of its parent
 * ([presenting], section V).
 */
#include "query/shape/rows.h"
#include "query/view.h"
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

/* Why the path goes no further, where a lower threshold would lead on. */
static void note_end(struct run *run, struct entry *next, double value, double parent)
{
    if (next && value > 0 && parent > 0)
        run_note(
            run,
            "the path ends where no child has the threshold share of its parent, %g %%: the largest, %s, has %.1f %%",
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
}
