/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clauses of a query as programs over the measures of its selection: columns, where, matching, sort by, by, expect.
 */
#ifndef HQ_QUERY_CLAUSES_H
#define HQ_QUERY_CLAUSES_H

#include "query/run.h"

/* Needs run->selection and run->binding. Makes the columns of the table, and the programs that struct run lists; all in
 * the run's arena. Errors carry the place in the query. */
struct hq_error *clauses_bind(struct run *run);

/* Where the query does not say in which order rows are, and none has a value of the first metric: they are in the order
 * of the next metric that one has, and a note says so. has_value: [measures] whether any top row has one. */
void clauses_settle_order(struct run *run, const bool *has_value);

#endif
