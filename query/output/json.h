/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of JSON. */
#ifndef HQ_QUERY_OUTPUT_JSON_H
#define HQ_QUERY_OUTPUT_JSON_H

#include <stdio.h>

/* A JSON string, null for NULL; what is not UTF-8 becomes U+FFFD. */
void json_text(const char *text, FILE *out);
/* A number that reads back the same; null for NaN and infinities. */
void json_number(double value, FILE *out);

#endif
