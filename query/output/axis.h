/* SPDX-License-Identifier: BSD-3-Clause */
/* The time axis of a picture: where its marks are and what they say. */
#ifndef HQ_QUERY_OUTPUT_AXIS_H
#define HQ_QUERY_OUTPUT_AXIS_H

#include "query/output/number.h"
#include "query/picture/picture.h"

struct axis {
    double from, to, step; /* seconds */
    double factor;         /* of the unit */
    const char *unit;
    int decimals;
};

/* At most `most` marks. */
struct axis axis_make(const struct picture *p, unsigned most);
/* The time of mark i; false beyond the last one. */
bool axis_mark(const struct axis *a, unsigned i, double *time);
void axis_text(char text[NUMBER_MAX], const struct axis *a, double time);

#endif
