/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of one procedure, as its machine code has them. */
#ifndef HQ_STRUCTURE_LOOPS_H
#define HQ_STRUCTURE_LOOPS_H

#include "structure/image.h"
#include "structure/procedure.h"

#define LOOP_NONE UINT32_MAX

/* How likely the line of a branch is the line of the loop statement: lower is better. */
enum loop_evidence { LOOP_EXIT_AND_BACK, LOOP_HEADER_EXIT, LOOP_EXIT, LOOP_BACK, LOOP_EVIDENCE_KINDS };

struct loop_branch {
    uint32_t loop;
    enum loop_evidence evidence;
    uint64_t address;
    uint64_t to; /* where it leaves the loop, 0: it does not, or leaves the procedure */
    bool tests;  /* struct insn's */
    bool dies;   /* where nothing returns, as behind assert(); the loop itself does */
};

/* Where a branch or jump lies that is near a loop and not in it. */
enum loop_side {
    LOOP_FRONT,   /* on the way to it, since the last call, other loop, or header of the loop around it */
    LOOP_GUARD,   /* the same, and it can go past the loop */
    LOOP_LEAD,    /* other code on the way to it, up to no branch */
    LOOP_BEHIND,  /* on the way from it in the loop around it, up to the same; decides nothing of that loop */
    LOOP_REST,    /* other code there: up to the condition of the loop around it, or up to no branch */
    LOOP_THROUGH, /* none: another loop that the way to it leads out of */
};

struct loop_near {
    uint32_t loop;
    enum loop_side side;
    uint32_t other; /* of LOOP_THROUGH, else LOOP_NONE */
    uint64_t since; /* what leads to the branch without another one between them */
    uint64_t address;
};

struct loop {
    uint32_t parent; /* LOOP_NONE: outermost. Parents come first */
    uint64_t header; /* address of the first instruction of the header block */
};

struct loop_span { /* code whose innermost loop is `loop`; ascending, disjoint; code in no loop has none */
    uint64_t low, high;
    uint32_t loop;
};

struct loop_call {
    uint64_t low, high; /* the instruction */
    uint64_t target;    /* 0: not known */
};

struct loops {
    struct loop *list;
    struct loop_span *spans;
    struct loop_branch *branches;
    struct loop_near *near;  /* in the order of the loops */
    struct loop_call *calls; /* ascending; none if there are no loops */
    uint64_t *decisions;     /* the conditional branches, likewise */
    size_t count, span_count, branch_count, call_count, decision_count, near_count;
};

struct cfg;
void loops_find(const struct cfg *cfg, struct loops *out); /* havlak.c */
void loops_deinit(struct loops *l);

#endif
