/* SPDX-License-Identifier: BSD-3-Clause */
/* Flame graphs. */
#ifndef HQ_QUERY_OUTPUT_FLAME_H
#define HQ_QUERY_OUTPUT_FLAME_H

#include "common/err.h"
#include "query/output.h"

/* A table of nested rows as a flame graph in SVG, by the column that weights_of takes. HQ_USAGE if rows are not nested
 * or have no cost. */
struct hq_error *flame_write(const struct table *t, const struct output_options *o, FILE *out);

#endif
