/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set of runs: a directory that holds the recordings of one program (`hq record --runs N`) or of two that ran in
 * turns (`hq race`), and a small text file that lists them in the order in which they ran:
 *
 *     hq runs 1
 *     old 001.hq
 *     new 002.hq
 *     new 003.hq
 *     old 004.hq
 *
 * Lines that begin with # are passed over by those who do not know them; `# family X` is what the last look of a race
 * might spend (looks.h), which a later check of the same runs keeps to; `# ended` stands in the list of a set that came
 * to its end without a run, and that the next one may replace.
 *
 * The runs of one program are all `new`. Beside them lie new.hq, and of a race old.hq: all runs of a side joined, which
 * is what a question to the set is answered from. Runs after the last whole pair are not listed.
 */
#ifndef HQ_REPL_GATE_RUNS_H
#define HQ_REPL_GATE_RUNS_H

#include "common/err.h"
#include "common/mem.h"
#include "common/vec.h"
#include <stdbool.h>

enum run_side { RUN_OLD, RUN_NEW, RUN_SIDES };

struct run_entry {
    enum run_side side;
    char *path; /* of its database */
};

struct run_set {
    char *directory;
    VEC(struct run_entry) runs; /* as they ran */
    double family;              /* what the last look might spend; 0: not known */
    bool ended;                 /* of a set without runs: nobody is making it any more */
    bool made;                  /* by run_set_create, and not read */
};

/* Is this a directory with such a list? */
bool run_set_is(const char *path);
struct hq_error *run_set_read(const char *path, struct run_set *out);
void run_set_deinit(struct run_set *set);
/* How many runs of a side there are; a race has as many of each. */
size_t run_set_count(const struct run_set *set, enum run_side side);
/* The i-th run of a side. */
const char *run_set_path(const struct run_set *set, enum run_side side, size_t i);
/* The joined database of a side, malloc'ed: DIRECTORY/new.hq. */
char *run_set_joined(const char *directory, enum run_side side);

/* The set that a database joins, and which side of it: a set itself (its new runs), or DIRECTORY/old.hq and new.hq.
 * Any other database is of one run: then out->directory is NULL. */
struct hq_error *run_set_of(const char *path, struct run_set *out, enum run_side *side);
/* How many runs a database joins: those of a set, or of one side of it (DIRECTORY/old.hq); 1 for any other. */
size_t run_set_joins(const char *path);

/* ---- making one ---- */

/* Makes the directory, with a list of no runs; HQ_USAGE if something is there and `force` does not allow it to go. What
 * ended without a run goes in any case. */
struct hq_error *run_set_create(const char *path, bool force, struct run_set *out);
/* The path for the next run, malloc'ed. It comes into the list by run_set_add. */
char *run_set_next(const struct run_set *set);
void run_set_add(struct run_set *set, enum run_side side, const char *path);
/* Writes the list. */
struct hq_error *run_set_write(const struct run_set *set);
/* Nothing comes to the set any more, whether or not it has runs. */
void run_set_end(struct run_set *set);
/* Joins the runs of each side. */
struct hq_error *run_set_join(const struct run_set *set); /* record_only.c */

#endif
