/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to havlak.c and loop_near.c: the loops of a procedure while they are looked for. */
#ifndef HQ_STRUCTURE_HAVLAK_IMPL_H
#define HQ_STRUCTURE_HAVLAK_IMPL_H

#include "structure/cfg.h"
#include "structure/loops.h"

struct graph { /* nodes are reachable blocks, numbered in preorder */
    const struct cfg *cfg;
    uint32_t count;
    uint32_t *number; /* block -> node, CFG_NONE: unreachable */
    uint32_t *block;  /* node -> block */
    uint32_t *last;   /* node -> last descendant */
    uint32_t *pred_start, *preds;
};

struct nest;

struct loop_maker {
    const struct cfg *cfg;
    const struct graph *g;
    const struct nest *t;
    uint32_t *loop_of; /* block -> innermost loop */
    bool *returns;     /* block -> whether a way from it leaves the procedure */
    VEC(struct loop) loops;
    VEC(uint32_t) headers; /* blocks, of the loops */
    VEC(struct loop_span) spans;
    VEC(struct loop_branch) branches;
    VEC(struct loop_call) calls;
    VEC(uint64_t) decisions;
    VEC(struct loop_near) near;
};

static inline uint64_t loop_block_address(const struct cfg *cfg, uint32_t block)
{
    return cfg->insns.data[cfg->blocks.data[block].first].address;
}

/* Whether a loop, or LOOP_NONE, is `outer` or lies in it. */
static inline bool loop_contains(const struct loop_maker *m, uint32_t outer, uint32_t loop)
{
    while (loop != LOOP_NONE && loop != outer)
        loop = m->loops.data[loop].parent;
    return loop == outer;
}

/* Fills m->near, of all loops (loop_near.c). */
void loop_near_find(struct loop_maker *m);

#endif
