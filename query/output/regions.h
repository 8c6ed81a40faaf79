/* SPDX-License-Identifier: BSD-3-Clause */
/* The rectangles of equal cells of a picture: runs within a row, joined over the rows below that have the same run. */
#ifndef HQ_QUERY_OUTPUT_REGIONS_H
#define HQ_QUERY_OUTPUT_REGIONS_H

#include "query/picture/picture.h"

struct region {
    uint32_t cell, x, y, width, height;
}; /* in cells */
struct regions {
    struct region *data;
    size_t len, cap;
};

/* At most `most` regions, the largest ones, ordered by cell, then from top to bottom and left to right. vec_deinit ends
 * it. */
struct regions regions_of(const struct picture *p, size_t most);

#endif
