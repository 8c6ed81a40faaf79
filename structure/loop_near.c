/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The branches around a loop that are not of it: in front, back to a call, another loop or the header of the loop
 * around it, and behind, up to the same. What compilers take out of a loop is there: the test whether it is entered at
 * all, the share of a thread, what a vectorised loop leaves over.
 */
#include "structure/havlak_impl.h"
#include <stdlib.h>

enum { REACH = 48 }; /* blocks: it is close by */

struct exit { /* of a loop, to a block */
    uint32_t loop, to;
};

struct walk {
    struct loop_maker *m;
    VEC(uint32_t) blocks;
    VEC(struct exit) exits; /* by loop */
    uint32_t *stamp;        /* block -> loop and side that it was last seen for */
};

static uint32_t stamp_of(uint32_t loop, bool behind)
{
    return 2 * loop + behind + 1;
}

static bool is_call(const struct insn *in)
{
    return in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT;
}

/* Whether a successor of the block lies neither among the blocks in front of the loop nor in the loop: control can go
 * past it. */
static bool goes_past(const struct walk *w, uint32_t loop, const struct cfg_block *b)
{
    for (uint32_t k = 0; k < b->successor_count; k++) {
        uint32_t to = w->m->cfg->successors.data[b->first_successor + k];

        if (w->stamp[to] != stamp_of(loop, false) && !loop_contains(w->m, loop, w->m->loop_of[to]))
            return true;
    }
    return false;
}

/* Whether what a block ends in leaves the loop around, or goes round it. */
static bool is_of_outer(const struct walk *w, uint32_t outer, const struct cfg_block *b)
{
    for (uint32_t k = 0; outer != LOOP_NONE && k < b->successor_count; k++) {
        uint32_t to = w->m->cfg->successors.data[b->first_successor + k];

        if (to == w->m->headers.data[outer] || !loop_contains(w->m, outer, w->m->loop_of[to]))
            return true;
    }
    return false;
}

/* Notes a block, and the branch that it ends in. Behind a loop it counts without one, but in the loop around it only.
 */
static void note_block(struct walk *w, uint32_t loop, uint32_t block, bool behind)
{
    const struct cfg_block *b = &w->m->cfg->blocks.data[block];
    const struct insn *in = &w->m->cfg->insns.data[b->first + b->count - 1], *since = in;
    uint32_t outer = w->m->loops.data[loop].parent;
    bool branches = in->kind == INSN_BRANCH || in->kind == INSN_JUMP;
    enum loop_side side = goes_past(w, loop, b) ? LOOP_GUARD : LOOP_FRONT;

    if (behind && outer != LOOP_NONE && !loop_contains(w->m, outer, w->m->loop_of[block]))
        return;
    if (!behind && !branches)
        side = LOOP_LEAD;
    if (behind)
        side = branches && !is_of_outer(w, outer, b) ? LOOP_BEHIND : LOOP_REST;
    while (since > &w->m->cfg->insns.data[b->first] && !is_call(since - 1))
        since--;
    vec_push(&w->m->near, (struct loop_near){loop, side, LOOP_NONE, since->address, in->address});
}

/* Goes on to a block that is not of the loop, once. */
static void go(struct walk *w, uint32_t loop, uint32_t block, bool behind)
{
    uint32_t in = w->m->loop_of[block];

    if (loop_contains(w->m, loop, in) || w->stamp[block] == stamp_of(loop, behind))
        return;
    w->stamp[block] = stamp_of(loop, behind);
    if (in == LOOP_NONE || loop_contains(w->m, in, loop))
        vec_push(&w->blocks, block);
    else if (!behind)
        vec_push(&w->m->near, (struct loop_near){loop, LOOP_THROUGH, in, 0, 0});
}

static bool calls(const struct walk *w, uint32_t block)
{
    const struct cfg_block *b = &w->m->cfg->blocks.data[block];

    for (uint32_t i = b->first; i < b->first + b->count; i++)
        if (is_call(&w->m->cfg->insns.data[i]))
            return true;
    return false;
}

static void walk_front(struct walk *w, uint32_t loop, uint32_t outer)
{
    const struct graph *g = w->m->g;

    w->blocks.len = 0;
    for (size_t i = 0; i <= w->blocks.len && i < REACH; i++) {
        uint32_t block = i ? w->blocks.data[i - 1] : w->m->headers.data[loop], node = g->number[block];

        if (i && (block == outer || calls(w, block)))
            continue;
        for (uint32_t k = g->pred_start[node]; k < g->pred_start[node + 1]; k++)
            go(w, loop, g->block[g->preds[k]], false);
    }
    vec_foreach(block, &w->blocks)
        note_block(w, loop, *block, false);
}

static void walk_behind(struct walk *w, uint32_t loop, uint32_t outer, size_t first, size_t end)
{
    w->blocks.len = 0;
    for (size_t i = first; i < end; i++)
        go(w, loop, w->exits.data[i].to, true);
    for (size_t i = 0; i < w->blocks.len && i < REACH; i++) {
        const struct cfg_block *b = &w->m->cfg->blocks.data[w->blocks.data[i]];

        if (w->blocks.data[i] == outer || calls(w, w->blocks.data[i]))
            continue;
        note_block(w, loop, w->blocks.data[i], true);
        if (is_of_outer(w, w->m->loops.data[loop].parent, b))
            continue;
        for (uint32_t k = 0; k < b->successor_count; k++)
            go(w, loop, w->m->cfg->successors.data[b->first_successor + k], true);
    }
}

static int by_loop(const void *a, const void *b)
{
    const struct exit *x = a, *y = b;

    if (x->loop != y->loop)
        return x->loop < y->loop ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static void find_exits(struct walk *w)
{
    for (uint32_t block = 0; block < w->m->cfg->blocks.len; block++) {
        const struct cfg_block *b = &w->m->cfg->blocks.data[block];

        for (uint32_t k = 0; k < b->successor_count; k++) {
            uint32_t to = w->m->cfg->successors.data[b->first_successor + k], l = w->m->loop_of[block];

            for (; l != LOOP_NONE && !loop_contains(w->m, l, w->m->loop_of[to]); l = w->m->loops.data[l].parent)
                vec_push(&w->exits, (struct exit){l, to});
        }
    }
    vec_sort(&w->exits, by_loop);
}

void loop_near_find(struct loop_maker *m)
{
    struct walk w = {.m = m, .stamp = xcalloc(m->cfg->blocks.len, sizeof *w.stamp)};
    size_t first = 0;

    find_exits(&w);
    for (uint32_t l = 0; l < m->loops.len; l++) {
        uint32_t parent = m->loops.data[l].parent, outer = parent == LOOP_NONE ? CFG_NONE : m->headers.data[parent];
        size_t end = first;

        while (end < w.exits.len && w.exits.data[end].loop == l)
            end++;
        walk_front(&w, l, outer);
        walk_behind(&w, l, outer, first, end);
        first = end;
    }
    vec_deinit(&w.blocks);
    vec_deinit(&w.exits);
    free(w.stamp);
}
