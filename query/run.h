/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One query at work: what is bound, selected and remembered while its table is made. The driver in run.c is the same
 * for all views:
 *
 *     selection -> roots -> flatten -> expand (where, limits) -> statistics -> mark -> sort -> fold -> rows
 *
 * Cost follows the answer: children are asked for only where rows will be shown, unless a clause (where, a statistic
 * as sort key) needs them all; then a `where` that bounds an inclusive metric from below prunes.
 */
#ifndef HQ_QUERY_RUN_H
#define HQ_QUERY_RUN_H

#include "query/bind/expr.h"
#include "query/tree/node.h"
#include "query/pattern/pattern.h"
#include "query/query.h"
#include "query/choose/select.h"
#include "query/table.h"
#include "query/picture/palette.h"

struct view_row;
struct entities;

struct sort_program {
    struct program *program;
    bool ascending;
};

struct run {
    struct query_env *env;
    const struct query *query;
    const struct view_row *view;
    struct arena arena;
    struct selection selection;
    const struct tree *tree; /* &selection.tree */
    struct binding binding;
    struct matches of; /* if query->view.of */
    struct table *table;

    VEC(struct program *) columns; /* one for each table column */
    VEC(struct program *) where;
    VEC(struct regex *) matching;
    VEC(struct sort_program) sort;
    VEC(struct program *) expect;
    struct program *first; /* the first metric's inclusive value; NULL: there is none */
    struct program *by;    /* hot path */
    double *totals;        /* [2 * measures] what shares are of */
    double *wholes;        /* the same, but the real change in the slots of a change */
    const char
        *doubt; /* why its rows may be others than they seem: nothing is expected of them; NULL: they are right */
    const char *unknown;                /* what chooses the rows names nothing that is known: why; NULL */
    bool complete;                      /* no folding */
    bool of_paths;                      /* what `depth` cuts off is a row */
    bool statistics_told, helpers_told; /* what statistics are over; what is left out */
    bool interrupted;

    struct nodes prepared; /* what the view's prepare keeps for its roots; the array is in the arena */
    struct entities *entities;
    uint32_t *scope_child, *scope_next;              /* flat: children of a scope as a list; made on demand */
    struct ranges ranges;                            /* scratch */
    uint8_t *waits;                                  /* [scope] enum waiting; made on demand */
    const struct grouping *groupings[GROUPED_KINDS]; /* grouping.h */
    uint8_t *families;                               /* [scope] enum family; made on demand */
};

/* True once the user has asked to stop. */
bool run_interrupted(struct run *run);

struct hq_error *run_query(struct query_env *env, const struct query *q, struct table **out);

/* Whose code a scope is, for pictures; HQDB_NONE: the program's. */
enum family run_family(struct run *run, uint32_t scope);

/* The slots of a node, all that are used; the others blank. */
void run_measure(struct run *run, const struct node *n, double *slots);
void run_facts(struct run *run, const struct node *n, int depth, struct facts *out);
/* Says how many launchers and helpers were left out of something, and what they cost in a metric; HQDB_NONE: in the
 * first one. Nothing if there are none. */
void helpers_note(struct run *run, const char *of, uint32_t metric);
void run_note(struct run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
