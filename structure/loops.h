/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of one procedure, as its machine code has them. */
#ifndef HQ_STRUCTURE_LOOPS_H
#define HQ_STRUCTURE_LOOPS_H

#include "structure/image.h"
#include "structure/procedure.h"

#define LOOP_NONE UINT32_MAX

/* How likely the line of a branch is the line of the loop statement: lower is better. */
enum loop_evidence {
    LOOP_EXIT_AND_BACK,
    LOOP_HEADER_EXIT,
    LOOP_EXIT,
    LOOP_BACK,
    LOOP_IN_FRONT, /* not of the loop: in the code between an outermost loop and the call or loop in front of it */
    LOOP_EVIDENCE_KINDS
};

struct loop_branch {
    uint32_t loop;
    enum loop_evidence evidence;
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

struct loops {
    struct loop *list;
    struct loop_span *spans;
    struct loop_branch *branches;
    struct dwarf_range *calls; /* the call instructions, ascending; none if there are no loops */
    size_t count, span_count, branch_count, call_count;
};

struct cfg;
void loops_find(const struct cfg *cfg, struct loops *out);
void loops_deinit(struct loops *l);

#endif
