/* SPDX-License-Identifier: BSD-3-Clause */
/* The writers of formats.def. Each is one file of this directory, which says what it writes; so does doc/output.md. */
#ifndef HQ_QUERY_OUTPUT_FORMATS_H
#define HQ_QUERY_OUTPUT_FORMATS_H

#include "query/output.h"

#define FORMAT(format, ...) \
    struct hq_error *format##_write(const struct table *t, const struct output_options *o, FILE *out);
#include "query/output/formats.def"
#undef FORMAT

#endif
