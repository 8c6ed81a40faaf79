/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost that each row of a tree carries itself: what folded stacks and call graphs are made of. It is the inclusive
 * value less the inclusive values of the rows below, and not the exclusive column, in which a procedure counts its
 * loops too. So the own costs of all rows add up to the roots' values. A row kept only as an ancestor carries nothing.
 */
#ifndef HQ_QUERY_OUTPUT_WEIGHTS_H
#define HQ_QUERY_OUTPUT_WEIGHTS_H

#include "query/table.h"

/*
 * own[row]; column: the one that was used, the first inclusive one, else the first number. HQ_USAGE if there is none.
 * `format` is named in the error. The caller frees *own.
 */
struct hq_error *weights_of(const struct table *t, const char *format, double **own, size_t *column);

/* Returns own[row] of the given column, as weights_of does. The caller frees it. */
double *weights_column(const struct table *t, size_t column);

/* Does any row carry less than nothing, as in comparisons? */
bool weights_negative(const struct table *t, const double *own);

#endif
