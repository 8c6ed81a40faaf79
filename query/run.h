/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One query at work: what is chosen, bound, measured and remembered while its table is made (driver.h), and what every
 * stage may ask of it.
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

enum falls { FALLS_UNKNOWN, FALLS_NOT, FALLS };

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
    enum falls *falls;     /* by measure, for values_fall */
    const char
        *doubt; /* why its rows may be others than they seem: nothing is expected of them; NULL: they are right */
    const char *unknown; /* what chooses the rows names nothing that is known, or was not measured: why; NULL */
    bool complete;       /* no folding */
    bool of_paths;       /* what `depth` cuts off is a row */
    bool statistics_told, helpers_told; /* what statistics are over; what is left out */
    bool interrupted;

    struct nodes prepared; /* what the view's prepare keeps for its roots; the array is in the arena */
    struct entities *entities;
    struct ranges ranges;                            /* scratch */
    uint8_t *waits;                                  /* [scope] enum waiting; made on demand */
    const struct grouping *groupings[GROUPED_KINDS]; /* grouping.h */
    struct tint *tints;                              /* [scope] for pictures; made on demand */
};

/* Whether `where` or `matching` choose. */
static inline bool rows_filtered(const struct run *run)
{
    return run->where.len || run->matching.len;
}

/* True once the user has asked to stop. */
bool run_interrupted(struct run *run);

/* A sentence below the table. */
void run_note(struct run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Likewise, of what was not measured: nothing is to be expected of its absence. */
void run_unmeasured(struct run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Whether an event whose name begins so was counted in this run, if only 0 times: "MPI_". */
bool run_counted(const struct run *run, const char *events);

#endif
