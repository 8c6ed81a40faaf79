/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a statement to its table, the same for all views:
 *
 *     choose -> bind -> measure -> shape -> table
 *
 *     selection -> roots -> flatten -> expand (where, limits) -> statistics -> mark -> sort -> fold -> rows
 *
 * Each stage is a folder of query/ and takes what the one before has left in struct run (run.h); none calls a later
 * one. Cost follows the answer: children are asked for only where rows will be shown, unless a clause (where, a
 * statistic as sort key) needs them all; then a `where` that bounds an inclusive metric from below prunes.
 */
#ifndef HQ_QUERY_DRIVER_H
#define HQ_QUERY_DRIVER_H

#include "query/run.h"

/* *out is the table, which the caller destroys; NULL with an error, which carries the place in the query. */
struct hq_error *run_query(struct query_env *env, const struct query *q, struct table **out);

#endif
