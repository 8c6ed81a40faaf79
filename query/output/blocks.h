/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A picture for a terminal or a text file: a character per cell, coloured blocks with 256 or more colours and letters
 * otherwise, a time axis, and a legend with shares, the largest first.
 */
#ifndef HQ_QUERY_OUTPUT_BLOCKS_H
#define HQ_QUERY_OUTPUT_BLOCKS_H

#include "query/output.h"
#include "query/picture/picture.h"

/* `o` says whether colours and UTF-8 may be written, and how wide it may be. */
void blocks_put(const struct picture *p, const struct output_options *o, FILE *out);

#endif
