/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A view gives nodes; the driver (driver.h) measures, filters, sorts, cuts and numbers them, so a view knows nothing of
 * clauses.
 *
 * roots: the top rows. With `of PATTERN` those of the pattern. children: the rows below a node, in any order; nodes of
 * one parent are distinct. The driver asks between calls whether the user wants to stop; only long loops inside must
 * use run_interrupted.
 */
#ifndef HQ_QUERY_VIEW_H
#define HQ_QUERY_VIEW_H

#include "query/tree/node.h"

struct run;
struct table;

enum view_shape {
    SHAPE_TREE,   /* disjoint children: what is folded is the sum of everything below */
    SHAPE_NESTED, /* nested, but children overlap or repeat */
    SHAPE_LIST,   /* one level */
    SHAPE_PATH,   /* one path through a tree */
    SHAPE_FACTS,  /* fills the table itself */
};

struct view_row {
    enum view_shape shape;
    unsigned of_kinds;  /* what `of PATTERN` may match: KINDS_* */
    unsigned row_kinds; /* what its rows are, KINDS_*; 0: anything */
    bool of_profiles;   /* rows are profiles */
    bool of_wholes;     /* rows are whole profiles, which have no exclusive values */
    bool of_traces;     /* looks at the order of samples in time */
    bool cuts_visits;   /* a slice cuts its rows at its ends */
    bool covers;        /* rows are chosen to cover an expression: its own costs are a column, their paths another */
    bool in_order;      /* rows come in their order and are sorted only if asked; none is folded */
    bool adds_up;       /* with measures of its own: they add up over rows, but for plain ones */
    bool compares;      /* looks at the database of `compare with` itself (run_other): trees are not aligned for it */
    const char *none;   /* why there is no row though `of` names something; NULL: the view says so itself */
    const char *beside; /* heading of a column of text beside the name; NULL none */
    /* Before anything is bound; may put measures of its own in the place of those of the database. NULL: nothing to do.
     */
    struct hq_error *(*prepare)(struct run *run);
    struct hq_error *(*roots)(struct run *run, struct nodes *out);
    void (*children)(struct run *run, const struct node *parent, struct nodes *out);
    struct hq_error *(*fill)(struct run *run, struct table *t); /* SHAPE_FACTS */
};

#endif
