/* SPDX-License-Identifier: BSD-3-Clause */
/* Binary search in what is sorted. */
#ifndef HQ_COMMON_SEARCH_H
#define HQ_COMMON_SEARCH_H

#include <stddef.h>

/*
 * The first i of 0 to count - 1 for which `before` does not hold, count if there is none. `before` is an expression in
 * i that holds up to some place and not from there on: SEARCH(i, n, numbers[i] < least).
 */
#define SEARCH(i, count, before) \
    ({ \
        size_t search_low = 0, search_high = (count); \
\
        while (search_low < search_high) { \
            size_t i = search_low + (search_high - search_low) / 2; \
\
            if (before) \
                search_low = i + 1; \
            else \
                search_high = i; \
        } \
        search_low; \
    })

#endif
