/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From nodes to rows: a tree of entries is made as far as it is needed, filtered, sorted, cut and put into the table.
 * All in the run's arena; no recursion over the depth of the data.
 */
#ifndef HQ_QUERY_ROWS_H
#define HQ_QUERY_ROWS_H

#include "query/run.h"

struct entry {
    struct node node;
    struct entry *parent;
    struct entry **kids;
    size_t kid_count;
    int depth; /* 0: top rows */
    bool expanded;
    bool match; /* satisfies where and matching (always, without them) */
    bool keep;  /* match, or an ancestor of one */
    bool hot;
    uint32_t times;         /* > 1: so many rounds of a recursion */
    struct entry *round_of; /* what is shown for it, and for its like */
    size_t shown_kids;
    uint32_t folded; /* > 0: stands for so many rows */
    double *slots;
    double *statistics;               /* NULL until computed */
    const char *name;                 /* made on demand */
    const struct group_names *groups; /* likewise, where the query asks */
};

struct entries {
    struct entry **data;
    size_t len, cap;
};

/* The shown name of an entry. */
const char *entry_name(struct run *run, struct entry *e);
struct facts entry_facts(struct run *run, struct entry *e);
struct point entry_point(const struct run *run, const struct entry *e, const struct facts *facts);

/* Measured entries for nodes. */
struct entry *entry_new(struct run *run, const struct node *n, struct entry *parent, int depth);
/* True if it has no value of any metric in the selection: then it is no row. */
bool entry_is_absent(struct run *run, const struct entry *e);
void entry_expand(struct run *run, struct entry *e);

/* Whether `where` or `matching` choose. */
static inline bool rows_filtered(const struct run *run)
{
    return run->where.len || run->matching.len;
}

/* ---- shown.c ---- */

/* Whether small rows are folded, and whether an entry is large enough not to be. */
bool rows_fold(const struct run *run);
bool rows_above_fold(const struct run *run, const struct entry *e);
/* One entry for several: inclusive of all of them together, exclusive added up. */
struct entry *rows_together(struct run *run, struct entry **cut, size_t n, struct entry *parent, int depth,
                            const char *name);
/* What is to be shown, depth first in display order. */
void rows_walk(struct run *run, struct entry **roots, size_t n, struct entries *shown);

/* ---- rows.c ---- */

/* Makes the rows of the table. */
struct hq_error *rows_make(struct run *run);

/* The rows of `hot path`, from the hottest of the top entries on (hotpath.c). */
void rows_walk_hot_path(struct run *run, struct entry **roots, size_t n, struct entries *shown);

/* Orders by the sort keys. */
void rows_sort(struct run *run, struct entry **entries, size_t n);

/* Statistics over profiles for these entries. */
struct hq_error *statistics_compute(struct run *run, struct entry **entries, size_t n);

/* Half width of the 95 % interval of a cell: 0 for exact values, NaN if it is not known (doc/language.md, Expressions).
 */
double interval_half_width(struct run *run, const struct entry *e, const struct program *p);
/* The ends of the 95 % interval of a value of which `difference` is the difference to a bound; of a share those of
 * Wilson, whose middle is not the value. False: there is no error, or none is known. */
bool interval_ends(struct run *run, struct entry *e, const struct program *difference, double value, double *low,
                   double *high);
/* How far from a bound a value may lie that is on it; p is the difference of the two, `difference` its value here. */
double interval_at_bound(struct run *run, const struct entry *e, const struct program *p, double difference);

/* Of a recording with a bounded size the traces hold its end only: says so of a question that reaches further back. */
void note_trace(struct run *run);

/* Coverage of what these entries stand for. */
void coverage_compute(struct run *run, struct entry **entries, size_t n);

/* Sets `apart` of the table's rows that would look alike (alike.c). shown: what the rows were made of. */
void rows_tell_apart(struct run *run, const struct entries *shown);

/* Expectations: over all matching entries. Sets the verdict of the table. */
struct hq_error *expect_evaluate(struct run *run, struct entry **entries, size_t n);

/* What #n will mean. */
void refs_remember(struct run *run, const struct entries *shown);
void refs_forget(struct query_env *env);

/* ---- rounds.c ---- */

/* Whether the rounds of a recursion are one row: for people, if nothing looks at single rows. */
bool rows_merge_rounds(const struct run *run);
/* Makes a procedure's node that of all rounds in which it calls itself, if they are ROUNDS_MIN or more. */
enum { ROUNDS_MIN = 3 };
void node_merge_rounds(struct run *run, struct node *n);
/* One row for all rounds of a recursion through several procedures, where no row stands beside them. */
void rows_fold_recursion(struct run *run, struct entries *shown);

#endif
