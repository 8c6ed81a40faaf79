/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the entries that become rows: children are kept, sorted and cut parent by parent; those left out become one
 * row. */
#include "query/shape/rows.h"
#include "query/view.h"
#include <math.h>

#define FOLD_SHARE 0.005 /* rows below 0.5 % of the total are folded */

/* ---- what is too small to show ---- */

bool rows_above_fold(const struct run *run, const struct entry *e)
{
    struct point at = entry_point(run, e, NULL);
    bool measured = false;

    for (size_t i = 0; i < run->columns.len; i++) {
        double base = run->table->columns.data[i].base;

        /* A column in which nothing has a value does not tell what is small. */
        if (isnan(run->table->columns.data[i].total) || base == 0)
            continue;
        measured = true;
        if (fabs(program_number(run->columns.data[i], &at)) >= FOLD_SHARE * fabs(base))
            return true;
    }
    if (measured || !run->first)
        return !measured;
    double total = program_total(run->first, run->totals);

    return isnan(total) || fabs(program_number(run->first, &at)) >= FOLD_SHARE * fabs(total);
}

bool rows_fold(const struct run *run)
{
    const struct query *q = run->query;

    return !run->complete && !run->view->in_order && !run->view->of_profiles && !q->limit && !q->depth && !q->all &&
           run->view->shape != SHAPE_PATH;
}

/* ---- the rows to show ---- */

struct siblings {
    struct entry **data;
    size_t len;
};

/* Adds up the view's own values of rows that are not shown; a number that is no amount has no sum. */
static void add_own_values(const struct run *run, struct entry **cut, size_t n, double *slots)
{
    for (size_t s = 0; s < 2 * run->selection.measures.len; s++) {
        const struct measure *m = &run->selection.measures.data[s / 2];

        slots[s] = m->plain || m->no_total ? NAN : 0;
        for (size_t i = 0; i < n; i++)
            slots[s] += isnan(cut[i]->slots[s]) ? 0 : cut[i]->slots[s];
    }
}

struct entry *rows_together(struct run *run, struct entry **cut, size_t n, struct entry *parent, int depth,
                            const char *name)
{
    struct node node = {.kind = cut[0]->node.kind, .scope = HQDB_NONE, .context = HQDB_NONE, .profile = HQDB_NONE};
    VEC(uint32_t) inc = {0};
    struct entry *e;

    /* Values that a view has measured itself are not in the contexts. */
    for (size_t i = 0; i < n && !cut[0]->node.slots; i++)
        vec_append(&inc, cut[i]->node.inc.data, cut[i]->node.inc.len);
    node.inc = node.exc = set_sorted(inc.data, inc.len, &run->arena);
    node.rule = EXCLUSIVE_ALL;
    vec_deinit(&inc);
    node.name = name;
    e = entry_new(run, &node, parent, depth);
    if (run->view->shape == SHAPE_TREE)
        return e;
    for (size_t s = 1; s < 2 * run->selection.measures.len; s += 2) {
        e->slots[s] = 0;
        for (size_t i = 0; i < n; i++)
            e->slots[s] += cut[i]->slots[s];
    }
    if (cut[0]->node.profile != HQDB_NONE && !run->view->prepare)
        for (size_t s = 0; s < 2 * run->selection.measures.len; s++) {
            e->slots[s] = 0;
            for (size_t i = 0; i < n; i++)
                e->slots[s] += cut[i]->slots[s];
        }
    if (run->view->adds_up)
        add_own_values(run, cut, n, e->slots);
    return e;
}

/* The row of the folded ones. */
static struct entry *fold(struct run *run, struct entry **cut, size_t n, struct entry *parent, int depth, bool small)
{
    const char *name = arena_printf(&run->arena, small ? "%zu row%s below 0.5 %%" : "%zu more row%s", n,
                                    n == 1 ? "" : "s");
    struct entry *e = rows_together(run, cut, n, parent, depth, name);

    e->folded = (uint32_t)n;
    return e;
}

/* A graph or a stack takes for a row's own cost what is in none below it: what `depth` cuts off becomes a frame `...`,
 * loops and lines do not. */
static struct entry *below_depth(struct run *run, struct entry *e)
{
    struct entries open = {0}, cut = {0};
    struct entry *rest = NULL;

    vec_push(&open, e);
    while (open.len && !run_interrupted(run)) {
        struct entry *o = vec_pop(&open);

        entry_expand(run, o);
        for (size_t i = 0; i < o->kid_count; i++) {
            if (o->kids[i]->node.kind == SCOPE_LOOP)
                vec_push(&open, o->kids[i]);
            else if (o->kids[i]->node.kind != SCOPE_LINE)
                vec_push(&cut, o->kids[i]);
        }
    }
    if (cut.len) {
        rest = rows_together(run, cut.data, cut.len, e, e->depth + 1, "...");
        rest->node.kind = SCOPE_PROCEDURE;
        rest->node.leaf = true;
    }
    vec_deinit(&open);
    vec_deinit(&cut);
    return rest;
}

/* Keeps, sorts and cuts the children of one parent. */
static struct siblings choose(struct run *run, struct entry **all, size_t n, struct entry *parent, int depth)
{
    struct siblings out = {ARENA_ARRAY(&run->arena, n + 1, struct entry *), 0};
    struct entry **small = xmalloc((n + 1) * sizeof *small);
    size_t small_count = 0, limit = run->query->limit;
    bool asked = depth == 0 && run->query->view.of && run->view->shape != SHAPE_LIST;

    for (size_t i = 0; i < n; i++) {
        struct entry *e = all[i];

        if (!e->keep)
            continue;
        if (rows_fold(run) && !asked && !rows_filtered(run) && !rows_above_fold(run, e))
            small[small_count++] = e;
        else
            out.data[out.len++] = e;
    }
    if (!run->view->in_order || run->query->sort.len)
        rows_sort(run, out.data, out.len);
    if (limit && out.len > limit) {
        struct entry *rest = fold(run, out.data + limit, out.len - limit, parent, depth, false);

        out.data[limit] = rest;
        out.len = limit + 1;
    } else if (small_count) {
        out.data[out.len++] = fold(run, small, small_count, parent, depth, true);
    }
    free(small);
    return out;
}

static void push_reversed(struct entries *stack, struct siblings s)
{
    for (size_t i = s.len; i-- > 0;)
        vec_push(stack, s.data[i]);
}

/* Depth first in display order. */
void rows_walk(struct run *run, struct entry **roots, size_t n, struct entries *shown)
{
    struct entries stack = {0};

    push_reversed(&stack, choose(run, roots, n, NULL, 0));
    while (stack.len && !run_interrupted(run)) {
        struct entry *e = vec_pop(&stack), *rest;

        vec_push(shown, e);
        if (e->folded)
            continue;
        if (run->query->depth && e->depth + 1 >= (int)run->query->depth) {
            if (run->of_paths && !rows_filtered(run) && run->view->shape == SHAPE_TREE && (rest = below_depth(run, e)))
                vec_push(shown, rest);
            continue;
        }
        if (!rows_filtered(run))
            entry_expand(run, e);
        push_reversed(&stack, choose(run, e->kids, e->kid_count, e, e->depth + 1));
    }
    vec_deinit(&stack);
}
