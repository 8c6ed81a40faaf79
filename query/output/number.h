/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers as people read them: one unit for a whole column, four significant digits of its largest value,
 * blank for nothing. What would round to 0 in the column's unit prints in the base unit instead (`4e-05 s`, `3`), so
 * that only what is nothing looks like nothing.
 */
#ifndef HQ_QUERY_OUTPUT_NUMBER_H
#define HQ_QUERY_OUTPUT_NUMBER_H

#include "query/table.h"

#define NUMBER_MAX 48 /* bytes, with the final NUL */

struct number_style {
    double factor;         /* shown = value / factor */
    const char *unit;      /* "ms"; "" none */
    const char *base_unit; /* "s" */
    int decimals;          /* negative: scientific */
    bool sign;             /* + before positive values */
    bool zero;             /* 0 is a value of its own (a rank, a count), not nothing */
};

/* The style that suits the values of column `index` of the table. */
struct number_style number_style_of(const struct table *t, size_t index);
/* Like number_style_of, for values up to `largest` in magnitude; whole: all are integers. */
struct number_style number_style_for(enum dim dim, double largest, bool whole);

/* Blank (""), or the number without its unit; returns the unit, "" for none. */
const char *number_text(char text[NUMBER_MAX], const struct number_style *s, double value);
/* "41.3%"; "" where there is no base. */
void percent_text(char text[NUMBER_MAX], double value, double base, bool sign);
/* The shortest decimal that reads back as the same number: for JSON and CSV. "" for NaN and infinities. */
void exact_text(char text[NUMBER_MAX], double value);
/* Returns the value that a cell's percentage is of; NaN if it has none. */
double percent_base(const struct column *c, const struct cell *cell);

#endif
