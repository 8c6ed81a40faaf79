/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grid that `table` and `tree` print: numbers first and aligned, each with its percentage beside it, names
 * last and whole, call site and callee on one line ([presenting], section V.B).
 */
#ifndef HQ_QUERY_OUTPUT_SCREEN_H
#define HQ_QUERY_OUTPUT_SCREEN_H

#include "query/output.h"

/* guides: lines that join a row to its siblings; else nesting is shown by indentation alone. */
struct hq_error *screen_write(const struct table *t, const struct output_options *o, bool guides, FILE *out);

#endif
