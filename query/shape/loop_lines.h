/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the lines of loops are from: the source, or debug information by rules that can be some lines off
 * (doc/loop-lines.md). */
#ifndef HQ_QUERY_LOOP_LINES_H
#define HQ_QUERY_LOOP_LINES_H

#include "common/str.h"
#include "query/run.h"

/* That of a loop, LOOP_UNKNOWN of one without a line and of all other scopes. */
enum loop_basis loop_lines_basis(const struct tree *t, uint32_t scope);

struct loop_lines { /* loops that have a line, by where that is from */
    unsigned of[LOOP_BASES];
};

static inline bool loop_lines_is_inferred(enum loop_basis basis)
{
    return basis > LOOP_BY_SOURCE;
}

/* How many lines are inferred. */
unsigned loop_lines_inferred(const struct loop_lines *n);
/* Adds why they are: "source not found (3), newer than the program (1)". */
void loop_lines_add_why(const struct loop_lines *n, struct str *out);

/* Below rows of loops: how many of their lines are inferred, if any, and why. */
void note_loop_lines(struct run *run);

#endif
