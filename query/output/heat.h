/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `as svg` of `messages`: a heat map, senders from top to bottom, receivers from left to right. A cell is darker the
 * more its first column is, by the logarithm; what no message has is white. The colours' scale stands below.
 */
#ifndef HQ_QUERY_OUTPUT_HEAT_H
#define HQ_QUERY_OUTPUT_HEAT_H

#include "common/err.h"
#include "query/table.h"
#include <stdio.h>

/* Whether a table's rows are pairs of ranks, told by its columns `sender` and `receiver`. */
bool heat_is_for(const struct table *t);

/* HQ_USAGE: a column that it needs is not there. */
struct hq_error *heat_write(const struct table *t, FILE *out);

#endif
