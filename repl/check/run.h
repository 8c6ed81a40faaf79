/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the parts of `hq check`: cmd_check.c (files, expectations, reports), baseline.c,
 * measure.c, race.c. */
#ifndef HQ_REPL_CHECK_RUN_H
#define HQ_REPL_CHECK_RUN_H

#include "query/grammar/ast.h"
#include "repl/baseline/baseline.h"
#include "repl/gate/gate.h"
#include "repl/session.h"

struct runner {
    const struct opt_args *args;
    struct checks checks;
    struct session session; /* of the present file */
    const char *db, *file;
    struct run_set set;       /* if the database is one; else empty */
    VEC(const char *) runs;   /* the databases of the runs, of which sets have several */
    VEC(struct run_set) sets; /* whose texts these are */
    struct baseline before, after;
    bool update, keep_tolerance, verbose, touched;
    enum check_outcome inconclusive; /* what it counts as */
    double tolerance;
    struct gate_tolerance race_tolerance;
    const char *history;      /* the directory for the values of this commit; NULL: none is kept */
    struct baseline kept;     /* what goes there */
    VEC(bool) parameter_used; /* of each -D: some file has named it */
    int status;               /* the gravest of errors */
    FILE *tap;                /* NULL: none is wanted */
};

/* ---- points: cmd_check.c ---- */

/* A new point of the present file, the last of all. */
struct check *check_new(struct runner *r, enum check_outcome outcome, const char *name, unsigned line);
void check_add_line(struct runner *r, struct check *c, const char *text);
/* The last check is whole: print it. */
void check_finish(struct runner *r, double start);

/* ---- baseline.c ---- */

/* The terms of a new baseline: settings, and whether there are names for the linker. The session of the file is open.
 */
void check_begin_baseline(struct runner *r);
/* Judges a query by its baseline, or writes its values into the new one. Nothing for a query that has none. */
struct hq_error *check_baseline(struct runner *r, const struct statement *st);
/* Names the queries that a baseline has and its file does not ask. */
void check_tell_unasked(const struct runner *r, const char *path);
/* Writes the new baseline of a file, if that is asked for. */
struct hq_error *check_write_baseline(struct runner *r, const char *path);

/* ---- measure.c ---- */

/* The databases of all runs that are given, and the set, if the first is one. A run that is given twice is a mistake.
 */
struct hq_error *check_find_runs(struct runner *r);

/*
 * The values of a query, of this database, or the means over all runs, where also small rows are measured, as a new
 * query of `into`. `computes`: what computes apart from what is in the system (baseline_split).
 */
struct hq_error *check_measure_runs(struct runner *r, const struct statement *st, bool computes, struct baseline *into,
                                    const char *text);
struct hq_error *check_measure(struct runner *r, const struct statement *st, struct baseline *into, const char *text);
/* As the baseline was written: under its settings, and by the names that both sides have. */
struct hq_error *check_measure_as_before(struct runner *r, const struct statement *st,
                                         const struct baseline_query *before, struct baseline *now, const char *text);

/* ---- history.c ---- */

/* Takes the values of a query for the history. Nothing without one, and for a query that has none. */
struct hq_error *check_history_take(struct runner *r, const struct statement *st);
/* Writes them, and makes a point that tells the steps of all courses. */
struct hq_error *check_history_end(struct runner *r);

/* ---- race.c ---- */

/* Is the database a race? */
bool check_is_race(const struct runner *r);
/* A point for each query of the file: the new runs against the old ones. */
struct hq_error *check_race(struct runner *r, const char *file);

#endif
