/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of loops, and below loops, of two programs. A loop is known by its number in its procedure ("loop 2/3 of solve":
 * the second of three), and one that was added, taken out or unrolled shifts the numbers of those behind it: of
 * procedures with another number of loops nobody knows which is which. Their loops are judged as a whole. So are those
 * of procedures with as many of which what is called in them says that they are others.
 *
 * Baselines and databases of earlier versions do not say how many loops a procedure has ("loop 2 of solve").
 */
#ifndef HQ_REPL_GATE_LOOP_ROWS_H
#define HQ_REPL_GATE_LOOP_ROWS_H

#include "common/arena.h"
#include "common/intern.h"
#include "common/loop_calls.h"
#include "common/vec.h"
#include "repl/check/check.h"
#include <stdbool.h>

struct loop_count {
    uint32_t count[2]; /* of loops, by side: what was seen last; 0: nothing */
    bool several;      /* other numbers were seen */
    bool bare;         /* loops were seen without */
    bool crossed;      /* what is called in a loop says that it is another one */
};

/* Zeroed is empty. */
struct loop_rows {
    struct intern procedures;
    VEC(struct loop_count) counts; /* by number of the procedure - 1 */
    struct intern callees;
    struct loop_calls calls; /* by the numbers of procedures and callees */
};

void loop_rows_deinit(struct loop_rows *l);

/* Notes the loops in the path of a row of a side, 0 the old one, and what is called in them. True: rows have other
 * paths from now on. */
bool loop_rows_note(struct loop_rows *l, int side, const char *path);

/* Compares what was called in loops, when all that is known was noted. True: rows have other paths from now on. */
bool loop_rows_cross(struct loop_rows *l);

/*
 * The path of the row in which a value of both sides is, without loops that only one of them numbers so. What is such a
 * loop's own is its procedure's, or in a list a row of all its loops ("loop * of solve"). NULL: nothing is left of it,
 * for the value is in the other rows.
 */
const char *loop_rows_path(const struct loop_rows *l, struct arena *arena, const char *metric, const char *path);

/* The path with the numbers of loops that were noted last, where it has none. */
const char *loop_rows_complete(const struct loop_rows *l, struct arena *arena, const char *path);

/* A line of the loops that are judged as a whole, and one of those of which that may be missing. */
void loop_rows_tell(const struct loop_rows *l, struct arena *arena, struct check_lines *lines);

#endif
