/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of one query in every run of a set, and what the runs together say of them. */
#ifndef HQ_REPL_GATE_VALUES_H
#define HQ_REPL_GATE_VALUES_H

#include "common/arena.h"
#include "repl/baseline/baseline.h"
#include "repl/check/check.h"
#include "repl/gate/judge.h"
#include "repl/gate/loop_rows.h"
#include "repl/gate/runs.h"

/* One row of a query and one metric of it, or, with an empty path, the total of a metric. */
struct gate_row {
    const char *metric, *path;
    enum dim dim;
    bool exact;                 /* the metric has no sampling error */
    bool of_compiler;           /* an inlined procedure or a loop: the compiler says what is its own */
    bool judged;                /* `where` has it in some run; else its values serve the other rows alone */
    double *value[RUN_SIDES];   /* by run, in base units; 0 where the run has no such row */
    double sampling[RUN_SIDES]; /* sum over the runs of the variance that sampling alone has */
};

struct gate_values {
    struct arena arena;
    size_t room;            /* the most runs of a side that there will be */
    size_t runs[RUN_SIDES]; /* those that are judged */
    bool part;              /* the query is of a part of the program: its rows alone are judged, and no total */
    VEC(struct gate_row) rows;
    struct row_names names;  /* of the rows, in their order */
    struct loop_rows loops;  /* in their paths */
    enum output_names shown; /* how rows are called in what is said of them */
    /* Of the last judging: there were rows of time, and some of them rose. */
    bool judged_time, slower;
};

struct gate_tolerance {
    double relative; /* of the value: 0.1 */
    double of_total; /* and never less than this share of the metric's total in the old runs: 0.02 */
    double seen;     /* a rise by this share of the total has to be ruled out, at least: 0.04 */
    double exact;    /* of the value of a metric without sampling error: 0.005 */
};
#define GATE_TOLERANCE 0.1
/*
 * The tolerance where a row may rise by `relative`. By default 10 % of a row, and at least 2 % of the total. What has
 * to be ruled out is the same of large rows, and of small ones 4 % of the total, which is 10 % of a procedure of 40 %:
 * chosen so that of a hundred races of unchanged programs whose runs differ by 4 % no more than ten are inconclusive.
 */
struct gate_tolerance gate_tolerance_of(double relative);

void gate_values_deinit(struct gate_values *v);
/* Takes the values of one run (baseline_measure with `least` 0). */
void gate_values_add(struct gate_values *v, enum run_side side, size_t run, const struct baseline_query *q);

/*
 * Judges all rows that are something on either side (0.5 % of the total), old runs against new ones that ran in turns,
 * at a family level. The gravest verdict; `lines` gets a line for each row that failed or is undecided, for those that
 * fell, and one that says what is ruled out; NULL: the verdict alone is wanted. `wanted`: about how many runs
 * of each program would decide. Without any row there is nothing that could have been seen: that is inconclusive, and
 * `wanted` 0.
 */
enum check_outcome gate_values_judge(struct gate_values *v, const struct gate_tolerance *t, double family,
                                     struct arena *arena, struct check_lines *lines, size_t *wanted);

#endif
