/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes csv and tsv: the columns id kind name module file line callsite depth, then those of the result. */
#ifndef HQ_QUERY_OUTPUT_SEPARATED_H
#define HQ_QUERY_OUTPUT_SEPARATED_H

#include "query/output.h"

struct separated {
    const char *separator, *newline;
    void (*put)(const char *text, FILE *out); /* one field, quoted or escaped as the format wants */
};

/* Calls fn for every text of a row that is shown: of the scope, and of the columns of text. */
void separated_texts(const struct table *t, void (*fn)(void *arg, const char *text), void *arg);

/* Writes a line of names, and one for each row that is shown. */
struct hq_error *separated_write(const struct table *t, const struct separated *s, FILE *out);

#endif
