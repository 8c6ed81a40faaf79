/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of address ranges [low, high) that begin with `low`, a uint64_t: frames, stubs, landing pads, ranges of
 * procedures. Their order, and the one that holds an address.
 */
#ifndef HQ_STRUCTURE_RANGE_H
#define HQ_STRUCTURE_RANGE_H

#include "common/compare.h"
#include "common/vec.h"
#include <stddef.h>
#include <stdint.h>

/* For qsort: by the address that both records begin with. */
static inline int range_by_low(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    COMPARE(*x, *y);
    return 0;
}

/* Sorts a vector of them. */
#define range_sort(v) \
    ({ \
        _Static_assert(offsetof(__typeof__(*(v)->data), low) == 0, "the record begins with low"); \
        vec_sort(v, range_by_low); \
    })

/* The element of a sorted vector whose range holds the address; NULL: none does. Where ranges overlap, only the last
 * one that begins at or below the address is looked at. */
#define range_find(v, address) \
    ({ \
        uint64_t range_address_ = (address); \
        size_t range_count_ = vec_upto(v, low, range_address_); \
        range_count_ && (v)->data[range_count_ - 1].high > range_address_ ? &(v)->data[range_count_ - 1] : NULL; \
    })

#endif
