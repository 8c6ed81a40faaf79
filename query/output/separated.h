/* SPDX-License-Identifier: BSD-3-Clause */
/* What csv and tsv share: the columns id kind name module file line callsite depth, then those of the result. */
#ifndef HQ_QUERY_OUTPUT_SEPARATED_H
#define HQ_QUERY_OUTPUT_SEPARATED_H

#include "query/output.h"

struct separated {
    const char *separator, *newline;
    void (*put)(const char *text, FILE *out); /* one field, quoted or escaped as the format wants */
};

struct hq_error *separated_write(const struct table *t, const struct separated *s, FILE *out);

#endif
