/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hot path: from the top, the child with the largest value while it has at least the threshold share of its parent
 * ([presenting], section V). In a comparison that is the largest change, and a row in which rises and falls cancel has
 * a share of nothing: every change below it is on the path.
 */
#include "query/shape/rows.h"
#include "query/view.h"
#include <math.h>

enum { CANCELLED_ROWS = 10000, CANCELLED_DEPTH = 200 };

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

/* Whether a row goes on below one that has `above`: of less than nothing there is no share. */
static bool reaches(const struct run *run, double value, double above)
{
    return value > 0 && !(value < run->query->threshold / 100 * above);
}

/* In a comparison rises and falls may cancel to nothing. Whether any row below has a change, as far as `room` rows
 * tell. */
static bool holds_change(struct run *run, struct entry *e, size_t *room, int depth)
{
    if (depth > CANCELLED_DEPTH || !*room)
        return false;
    entry_expand(run, e);
    for (size_t i = 0; i < e->kid_count && *room; i++, --*room) {
        struct point at = entry_point(run, e->kids[i], NULL);
        double x = program_number(run->by, &at);

        if (x > 0 || (x == 0 && holds_change(run, e->kids[i], room, depth + 1)))
            return true;
    }
    return false;
}

/* Of rows that all come to nothing the first in which there is a change. */
static struct entry *cancelled(struct run *run, struct entry **entries, size_t n)
{
    size_t room = CANCELLED_ROWS;

    for (size_t i = 0; run->tree->old && i < n; i++) {
        struct point at = entry_point(run, entries[i], NULL);

        if (program_number(run->by, &at) == 0 && holds_change(run, entries[i], &room, 0))
            return entries[i];
    }
    return NULL;
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
    double above, value;
    struct entry *e = hottest(run, roots, n, &value);

    if (!run->query->view.of) {
        static const uint32_t top = 0;
        struct node all = node_of_context(run->tree, 0);

        all.inc = all.exc = (struct set){&top, 1};
        struct entry *program = entry_new(run, &all, NULL, 0);
        struct point at = entry_point(run, program, NULL);

        above = program_number(run->by, &at);
        if (e && !reaches(run, value, above)) {
            struct entry *on = value == 0 ? cancelled(run, roots, n) : NULL;

            e = on ? on : program;
        }
    }
    while (e && !run_interrupted(run)) {
        struct point at = entry_point(run, e, NULL);
        struct entry *next;
        double here = program_number(run->by, &at);

        e->hot = true;
        vec_push(shown, e);
        if (run->query->depth && e->depth + 1 >= (int)run->query->depth)
            break;
        entry_expand(run, e);
        next = e->node.context == 0 ? NULL : hottest(run, e->kids, e->kid_count, &value);
        if (next && !reaches(run, value, here)) {
            struct entry *on = value == 0 ? cancelled(run, e->kids, e->kid_count) : NULL;

            if (!on)
                note_end(run, next, value, here);
            next = on;
        }
        e = next;
    }
}
