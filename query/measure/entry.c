/* SPDX-License-Identifier: BSD-3-Clause */
/* Measured nodes, their children and their order. */
#include "query/measure/entry.h"
#include "query/measure/grouping.h"
#include "query/measure/values.h"
#include "query/view.h"
#include <math.h>

/* ---- entries ---- */

const char *entry_name(struct run *run, struct entry *e)
{
    if (!e->name)
        e->name = e->node.name ? e->node.name : tree_scope_name(run->tree, e->node.scope, &run->arena);
    return e->name;
}

struct facts entry_facts(struct run *run, struct entry *e)
{
    struct facts f;

    values_facts(run, &e->node, e->depth, &f);
    f.name = entry_name(run, e);
    if (run->binding.uses_groups && !e->groups)
        e->groups = grouping_names(run, &e->node);
    f.groups = e->groups;
    return f;
}

struct point entry_point(const struct run *run, const struct entry *e, const struct facts *facts)
{
    return (struct point){.number = point_number(),
                          .slots = e->slots,
                          .totals = run->totals,
                          .statistics = e->statistics,
                          .facts = facts};
}

struct entry *entry_new(struct run *run, const struct node *n, struct entry *parent, int depth)
{
    struct entry *e = ARENA_NEW(&run->arena, struct entry);

    e->node = *n;
    e->parent = parent;
    e->depth = depth;
    e->match = e->keep = true;
    e->times = n->rounds;
    e->slots = ARENA_ARRAY(&run->arena, 2 * run->selection.measures.len, double);
    if (n->slots)
        memcpy(e->slots, n->slots, 2 * run->selection.measures.len * sizeof *e->slots);
    else
        values_measure(run, n, e->slots);
    return e;
}

/* Whether an entry has a value of a metric that the query did not ask for. */
static bool has_other_value(struct run *run, const struct entry *e)
{
    node_ranges(run->tree, &e->node, false, &run->ranges);
    for (size_t m = 0; m < run->selection.measures.len; m++) {
        AUTO_ERROR struct hq_error *err = NULL;

        if (run->binding.used[m] || run->selection.measures.data[m].side == SIDE_DELTA)
            continue;
        err = selection_load(&run->selection, m);
        if (!err && ranges_sum(&run->ranges, run->selection.measures.data[m].sums) != 0)
            return true;
    }
    return false;
}

/* Whether values of a measure cancel in an entry that has none in all. */
static bool cancels(struct run *run, const struct entry *e, size_t measure)
{
    const int64_t *sums = run->selection.measures.data[measure].sums;

    if (!values_fall(run, measure))
        return false;
    node_ranges(run->tree, &e->node, false, &run->ranges);
    vec_foreach(r, &run->ranges)
        for (uint32_t i = r->first; i < r->last; i++)
            if (sums[i + 1] != sums[i])
                return true;
    return false;
}

/* Profile data is sparse: what has no value in the selection is not there. (Call paths that only created a thread have
 * none at all.) */
bool entry_is_absent(struct run *run, const struct entry *e)
{
    if (run->view->in_order || run->view->of_profiles)
        return false;
    for (size_t m = 0; m < run->selection.measures.len; m++)
        if (run->binding.used[m] && run->selection.measures.data[m].side != SIDE_DELTA &&
            (e->slots[2 * m] != 0 || cancels(run, e, m)))
            return false;
    return !has_other_value(run, e);
}

void entry_expand(struct run *run, struct entry *e)
{
    struct nodes nodes = {0};

    if (e->expanded || e->node.leaf || !run->view->children || e->folded)
        return;
    e->expanded = true;
    run->view->children(run, &e->node, &nodes);
    e->kids = ARENA_ARRAY(&run->arena, nodes.len, struct entry *);
    for (size_t i = 0; i < nodes.len && !run_interrupted(run); i++)
        if (!entry_is_absent(run, e->kids[e->kid_count] = entry_new(run, &nodes.data[i], e, e->depth + 1)))
            e->kid_count++;
    vec_deinit(&nodes);
}
