/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints formats that are made for files on a terminal, without any character that would control it. */
#ifndef HQ_QUERY_OUTPUT_PLAIN_H
#define HQ_QUERY_OUTPUT_PLAIN_H

#include "query/output.h"

/* Writes the table in the format; ends of lines and tabs stay, what else would control a terminal becomes '?'. */
struct hq_error *plain_write(const struct output_format *format, const struct table *t, const struct output_options *o,
                             FILE *out);

#endif
