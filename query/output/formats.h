/* SPDX-License-Identifier: BSD-3-Clause */
/* The writers of the table of formats. Each is documented in its file and in doc/. */
#ifndef HQ_QUERY_OUTPUT_FORMATS_H
#define HQ_QUERY_OUTPUT_FORMATS_H

#include "query/output.h"

struct hq_error *table_write(const struct table *t, const struct output_options *o, FILE *out);
struct hq_error *tree_write(const struct table *t, const struct output_options *o, FILE *out);
struct hq_error *csv_write(const struct table *t, const struct output_options *o, FILE *out);
struct hq_error *tsv_write(const struct table *t, const struct output_options *o, FILE *out);
struct hq_error *json_write(const struct table *t, const struct output_options *o, FILE *out);
struct hq_error *markdown_write(const struct table *t, const struct output_options *o, FILE *out);
struct hq_error *folded_write(const struct table *t, const struct output_options *o, FILE *out);
struct hq_error *dot_write(const struct table *t, const struct output_options *o, FILE *out);
struct hq_error *pprof_write(const struct table *t, const struct output_options *o, FILE *out);
struct hq_error *speedscope_write(const struct table *t, const struct output_options *o, FILE *out);
struct hq_error *callgrind_write(const struct table *t, const struct output_options *o, FILE *out);
struct hq_error *chrome_write(const struct table *t, const struct output_options *o, FILE *out);
struct hq_error *svg_write(const struct table *t, const struct output_options *o, FILE *out);

#endif
