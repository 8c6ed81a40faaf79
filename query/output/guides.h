/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The indentation of a tree. Two columns a level while that fits, one where the tree is deep; on a terminal
 * too narrow for the deepest rows these stop moving right and say how many levels deeper they are (`+7 name`).
 * Only rows that have siblings get a branch, so that a chain of single calls stays quiet and
 * the places where paths part stand out.
 */
#ifndef HQ_QUERY_OUTPUT_GUIDES_H
#define HQ_QUERY_OUTPUT_GUIDES_H

#include "query/output.h"

struct guides {
    const struct table *table;
    bool lines;     /* draw branches */
    int step;       /* columns a level */
    int deepest;    /* level at which indentation stops */
    bool *open;     /* [level] the branch at this level goes on below */
    bool *has_next; /* [row] a later sibling follows */
};

/* room: columns for indentation and name, 0 unlimited. */
void guides_init(struct guides *g, const struct table *t, bool lines, int room);
void guides_deinit(struct guides *g);

/* Columns before the name of row `index`. */
int guides_width(const struct guides *g, size_t index);
/* Writes what stands before the name of row `index` and returns its width. Rows are to be given in order. */
int guides_put(struct guides *g, size_t index, const struct output_options *o, FILE *out);

#endif
