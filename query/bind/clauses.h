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

#endif
