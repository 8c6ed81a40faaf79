/* SPDX-License-Identifier: BSD-3-Clause */
/* Coded numbers of database files (format/database.h, rule 5): appending to a growing array, reading with a bound. */
#ifndef HQ_DB_CODED_H
#define HQ_DB_CODED_H

#include "common/vec.h"
#include <stdbool.h>
#include <stdint.h>

struct bytes {
    uint8_t *data;
    size_t len, cap;
};

static inline void put_coded(struct bytes *b, uint64_t x)
{
    vec_reserve(b, 10);
    while (x >= 0x80) {
        b->data[b->len++] = (uint8_t)(x | 0x80);
        x >>= 7;
    }
    b->data[b->len++] = (uint8_t)x;
}

static inline void put_signed(struct bytes *b, int64_t x)
{
    put_coded(b, ((uint64_t)x << 1) ^ (uint64_t)(x >> 63));
}

/* False at the end and for a number that does not end in time. */
static inline bool get_coded(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    const uint8_t *p = *at;
    uint64_t x = 0;

    for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
        x |= (uint64_t)(*p & 0x7f) << shift;
        if (!(*p++ & 0x80)) {
            *at = p;
            *out = x;
            return true;
        }
    }
    return false;
}

static inline bool get_signed(const uint8_t **at, const uint8_t *end, int64_t *out)
{
    uint64_t x;

    if (!get_coded(at, end, &x))
        return false;
    *out = (int64_t)(x >> 1) ^ -(int64_t)(x & 1);
    return true;
}

#endif
