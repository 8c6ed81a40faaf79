/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From nodes to rows: a tree of entries is made as far as it is needed, filtered, sorted, cut and put into the table.
 * All in the run's arena; no recursion over the depth of the data.
 */
#ifndef HQ_QUERY_ROWS_H
#define HQ_QUERY_ROWS_H

#include "query/measure/entry.h"

/* ---- order.c ---- */

/* Orders by the sort keys. */
void rows_sort(struct run *run, struct entry **entries, size_t n);

/* ---- shown.c ---- */

/* Whether small rows are folded, and whether an entry is large enough not to be. */
bool rows_fold(const struct run *run);
bool rows_above_fold(const struct run *run, const struct entry *e);
/* One entry for several: inclusive of all of them together, exclusive added up. */
struct entry *rows_together(struct run *run, struct entry **cut, size_t n, struct entry *parent, int depth,
                            const char *name);
/* Appends the entries to be shown, depth first in display order. */
void rows_walk(struct run *run, struct entry **roots, size_t n, struct entries *shown);

/* ---- rows.c ---- */

/* Makes the rows of the table. */
struct hq_error *rows_make(struct run *run);

/* ---- rounds.c ---- */

/* Whether the rounds of a recursion are one row: for people, if nothing looks at single rows. */
bool rows_merge_rounds(const struct run *run);
/* Makes a procedure's node that of all rounds in which it calls itself, if they are ROUNDS_MIN or more. */
enum { ROUNDS_MIN = 3 };
void node_merge_rounds(struct run *run, struct node *n);
/* One row for all rounds of a recursion through several procedures, where no row stands beside them. */
void rows_fold_recursion(struct run *run, struct entries *shown);

/* ---- absent.c ---- */

/* Where `where` keeps no row: notes attributes in it that are blank in every row, or that no row has with that value
 * (an error with `set strict on`), and that nothing is to be expected of that. all: the entries that it chose from. */
struct hq_error *absent_tell(struct run *run, const struct entries *all);

/* ---- hotpath.c ---- */

/* The rows of `hot path`, from the hottest of the top entries on. */
void rows_walk_hot_path(struct run *run, struct entry **roots, size_t n, struct entries *shown);

/* ---- remember.c ---- */

/* Notes that the traces of a recording with a bounded size hold its end only, if the question reaches further back. */
void note_trace(struct run *run);

/* Where the question is about waits in elapsed time, and threads wanted a processor and had none: how long. */
struct hq_error *note_delay(struct run *run);
/* Tells how long, whatever the clock, of what is timed by entry and exit: elapsed times of regions. */
void note_crowded(struct run *run);
/* Says which of the metrics only some of the processes have measured. */
void note_partly(struct run *run);

/* How many samples of the metrics whose counts are loaded have a partial call path: their own, or that of the parallel
 * region that they belong to. */
int64_t coverage_partial(const struct run *run);

/* Coverage of what these entries stand for. */
void coverage_compute(struct run *run, struct entry **entries, size_t n);

/* Remembers the entries that #n will refer to. */
void refs_remember(struct run *run, const struct entries *shown);
void refs_forget(struct query_env *env);

/* ---- alike.c ---- */

/* Sets `apart` of the table's rows that would look alike. shown: what the rows were made of. */
void rows_tell_apart(struct run *run, const struct entries *shown);

/* ---- expect.c ---- */

/* Expectations: over all matching entries. Sets the verdict of the table. */
struct hq_error *expect_evaluate(struct run *run, struct entry **entries, size_t n);

#endif
