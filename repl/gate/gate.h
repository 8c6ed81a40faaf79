/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queries of saved files, asked of every run of a race, and the verdict on each. `hq race` and `hq check SET` share
 * it.
 */
#ifndef HQ_REPL_GATE_GATE_H
#define HQ_REPL_GATE_GATE_H

#include "repl/gate/values.h"
#include "repl/session.h"

struct gate_query {
    const char *file; /* "" for a text */
    unsigned line;
    const char *text;        /* canonical */
    size_t taken[RUN_SIDES]; /* the last run of which it has the values, from 1 */
    struct gate_values values;
};

struct gate {
    struct arena arena;
    const struct opt_args *args; /* whose -D hold; NULL none */
    size_t pairs;                /* the most that there will be */
    VEC(struct gate_query *) queries;
    double *elapsed[RUN_SIDES]; /* by run: seconds that passed in it; 0: not known */
};

void gate_init(struct gate *g, const struct opt_args *args, size_t pairs);
void gate_deinit(struct gate *g);

/*
 * Asks the queries of the files of one run, the `run`th of its side. Without files: `procedures`. The first mistake
 * of a query ends it.
 */
struct hq_error *gate_ask(struct gate *g, const char *db, enum run_side side, size_t run, const char *const *files,
                          size_t count);

/* Judges one query after so many pairs. */
enum check_outcome gate_judge_query(struct gate_query *q, size_t pairs, const struct gate_tolerance *tolerance,
                                    double family, struct arena *arena, struct check_lines *lines, size_t *wanted);

/* How often a run might do its work to take half a second; 1: nothing shows that this helps. Runs of 0.13 s in such a
 * loop were decided by half as many pairs, those of 0.4 s by more (doc/checks.md). */
unsigned gate_often_enough(const struct gate *g, size_t pairs);

/*
 * Time that is waited for is in no CPU time. Where a query of CPU time would pass and the new runs took longer by the
 * clock, by more than half the tolerance and more than chance explains, nothing is known of why: inconclusive. A line
 * says how long they took.
 */
enum check_outcome gate_judge_elapsed(const struct gate *g, const struct gate_query *q, size_t pairs,
                                      const struct gate_tolerance *tolerance, struct arena *arena,
                                      struct check_lines *lines);

/* Up to three lines: the contexts that cover most of the rise between the two sides of a set, means over the runs. */
void gate_explain(const char *set, enum output_names names, struct arena *arena, struct check_lines *lines);

/*
 * All rows that a query means, with their intervals: limit and expect do not count, and rows that `where` leaves out
 * are there and marked (ROW_ANCESTOR). *out is NULL for what has no rows with costs.
 */
struct hq_error *gate_measure(struct query_env *env, const struct statement *st, struct table **out);
/* Does a query have values to compare? */
bool gate_compares(const struct statement *st);
/* The query without what does not change its values: what a baseline is named by. */
const char *gate_query_text(struct arena *arena, const struct statement *st);

#endif
