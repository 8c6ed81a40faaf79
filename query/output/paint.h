/* SPDX-License-Identifier: BSD-3-Clause */
/* The colours of a terminal by what they mean. Where options->colours is off nothing is written. */
#ifndef HQ_QUERY_OUTPUT_PAINT_H
#define HQ_QUERY_OUTPUT_PAINT_H

#include "query/output.h"

enum paint {
    PAINT_PLAIN,
    PAINT_HEADING,
    PAINT_DIM,
    PAINT_PLACE,
    PAINT_HOT,
    PAINT_HIGH,
    PAINT_SOME,
    PAINT_NEW,
    PAINT_GONE
};

/* Everything written between the two is shown so; they do not nest. */
void paint_on(enum paint p, const struct output_options *o, FILE *out);
void paint_off(enum paint p, const struct output_options *o, FILE *out);

#endif
