/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict on the rows of a race in words. */
#ifndef HQ_REPL_GATE_TELL_H
#define HQ_REPL_GATE_TELL_H

#include "repl/gate/values.h"

struct gate_judged {
    const struct gate_row *row;
    struct gate_difference d;
    enum gate_verdict verdict;
    double whole;                    /* the total of its metric in the old runs */
    const struct gate_row *former;   /* the row that it was in the old runs, under another name; NULL: none */
    bool taken;                      /* it is that row */
    bool is_new;                     /* nothing in the old runs */
    struct gate_difference by_whole; /* of these two: the rise of the whole, with that of the row for a tolerance */
    bool moved;                      /* it is one of them, and the whole did not rise by as much, or may not have */
};

/*
 * Adds the lines of a verdict: what rose, the largest rises first; what fell; how many rows are open, about how many
 * runs of each program would decide them (`wanted`), and which are the least certain; of a race that found nothing,
 * what it ruled out, at `missed` (judge.h), and would have seen, at `level`; which rows are taken for one, renamed;
 * which are new, inlined or loops, and cost nothing more. `names` is the setting. Texts are in the arena.
 */
void gate_tell(const struct gate_judged *all, size_t n, double level, double missed, size_t wanted,
               enum check_outcome outcome, enum output_names names, struct arena *arena, struct check_lines *lines);

#endif
