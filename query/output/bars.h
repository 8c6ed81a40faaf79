/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists as bars: `as svg` of what `as plot` draws on a terminal. */
#ifndef HQ_QUERY_OUTPUT_BARS_H
#define HQ_QUERY_OUTPUT_BARS_H

#include "common/vec.h"
#include "query/output.h"
#include "query/output/number.h"

/* A list as a picture of one of its columns: the first that is an amount (when a visit starts is none). */
struct bars {
    const struct table *t;
    const struct output_options *o;
    FILE *out;
    size_t column;
    VEC(const struct row *) rows; /* without those that stand for others */
    struct number_style style;
    double largest, mean;  /* in magnitude, of all; of those that count, which launchers and helpers do not */
    size_t counted, aside; /* rows with a value: what the mean is of, and what it leaves out */
};

enum { BARS_MOST = 64 }; /* rows that have a line each; more are columns side by side */

/* False if no column is an amount: then nothing is to be freed. Else the caller frees the rows. */
bool bars_take(struct bars *b, const struct table *t, const struct output_options *o, FILE *out);

/* The rows of a table without pictures of its own. HQ_USAGE if no column of it is an amount. */
struct hq_error *bars_write(const struct table *t, const struct output_options *o, FILE *out);

#endif
