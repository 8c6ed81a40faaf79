/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists as bars: `as svg` of what `as plot` draws on a terminal. */
#ifndef HQ_QUERY_OUTPUT_BARS_H
#define HQ_QUERY_OUTPUT_BARS_H

#include "query/output.h"

/* The first column that is an amount (when a visit starts is none), or columns.len. */
size_t bars_column(const struct table *t);

/* The rows of a table without pictures of its own. HQ_USAGE if no column of it is an amount. */
struct hq_error *bars_write(const struct table *t, const struct output_options *o, FILE *out);

#endif
