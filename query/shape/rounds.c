/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursion in what is shown to people. A procedure that calls itself is one row with the number of its rounds:
 * inclusive of the outermost, exclusive of all, and below it what any of them calls. A recursion through several
 * procedures is folded where one row follows below the other and none beside it.
 */
#include "query/shape/rows.h"
#include "query/tree/recursion.h"
#include "query/view.h"

static bool folds(const struct run *run)
{
    return !run->complete && !run->of_paths && !run->query->all &&
           (!run->query->depth || run->view->shape == SHAPE_PATH);
}

bool rows_merge_rounds(const struct run *run)
{
    return folds(run) && run->view->shape != SHAPE_PATH && !rows_filtered(run) && !run->query->expect.len;
}

void node_merge_rounds(struct run *run, struct node *n)
{
    const struct tree *t = run->tree;
    VEC(uint32_t) all = {0};
    uint32_t rounds = 0;

    if (n->kind != SCOPE_PROCEDURE || !rows_merge_rounds(run))
        return;
    vec_append(&all, n->exc.data, n->exc.len);
    for (size_t i = 0, end; i < all.len && !run_interrupted(run); rounds++)
        for (end = all.len; i < end; i++)
            for (uint32_t c = all.data[i] + 1; c < tree_end(t, all.data[i]); c = tree_end(t, c))
                if (tree_scope_of(t, c) == n->scope)
                    vec_push(&all, c);
    if (rounds >= ROUNDS_MIN) {
        uint32_t *contexts = ARENA_ARRAY(&run->arena, all.len, uint32_t);

        memcpy(contexts, all.data, all.len * sizeof *contexts);
        n->inc = n->exc = set_sorted(contexts, all.len, &run->arena);
        n->rounds = rounds;
    }
    vec_deinit(&all);
}

/* In a callers view the outermost round has the cost of all; elsewhere each has its own. */
static struct entry *fold_rounds(struct run *run, struct entry **first, size_t period, size_t times)
{
    struct node n = first[0]->node;
    struct entry *e;

    if (!n.at) {
        size_t count = 0, len = 0;

        for (size_t i = 0; i < times; i++)
            count += first[i * period]->node.exc.len;
        uint32_t *contexts = ARENA_ARRAY(&run->arena, count, uint32_t);
        for (size_t i = 0; i < times; i++) {
            struct set s = first[i * period]->node.exc;

            memcpy(contexts + len, s.data, s.len * sizeof *contexts);
            len += s.len;
        }
        n.inc = n.exc = set_sorted(contexts, count, &run->arena);
    }
    e = entry_new(run, &n, first[0]->parent, first[0]->depth);
    e->hot = first[0]->hot;
    e->match = first[0]->match;
    e->times = (uint32_t)times;
    for (size_t i = 0; i < times; i++)
        first[i * period]->round_of = e;
    return e;
}

/* Parents stand before their children, so what they have become is known. */
static void put(struct entries *out, struct entry *e)
{
    if (e->parent && e->parent->round_of)
        e->parent = e->parent->round_of;
    if (e->parent)
        e->depth = e->parent->depth + 1;
    vec_push(out, e);
}

/* A part of what is shown in which each row but the last has one below it, and no other. */
static void fold_chain(struct run *run, struct entry **chain, size_t len, struct entries *out, bool *told)
{
    AUTO_FREE uint32_t *steps = xmalloc((len + 1) * sizeof *steps);
    size_t period;

    for (size_t i = 0; i < len; i++) {
        const struct entry *e = chain[i];

        steps[i] = e->node.scope == HQDB_NONE || e->folded || e->times ? UINT32_MAX - (uint32_t)i
                                                                       : e->node.scope << 1 | e->match;
    }
    for (size_t i = 0; i < len;) {
        size_t times = recursion_times(steps, len, i, &period);

        for (size_t k = 0; k < period; k++)
            put(out, times > 1 ? fold_rounds(run, chain + i + k, period, times) : chain[i + k]);
        if (times > 1 && period > 1 && (!*told || run->view->shape == SHAPE_PATH)) {
            *told = true;
            run_note(run, "%s to %s repeat %zu times, one below the other",
                     entry_name(run, out->data[out->len - period]), entry_name(run, vec_last(out)), times);
        }
        i += period * times;
    }
}

void rows_fold_recursion(struct run *run, struct entries *shown)
{
    struct entries out = {0};
    bool told = false;

    if (!folds(run))
        return;
    for (size_t i = 0; i < shown->len; i++)
        if (shown->data[i]->parent)
            shown->data[i]->parent->shown_kids++;
    for (size_t i = 0, len; i < shown->len && !run_interrupted(run); i += len) {
        for (len = 1; i + len < shown->len && shown->data[i + len]->parent == shown->data[i + len - 1] &&
                      shown->data[i + len - 1]->shown_kids == 1;
             len++) {}
        fold_chain(run, shown->data + i, len, &out, &told);
    }
    vec_deinit(shown);
    *shown = out;
}
