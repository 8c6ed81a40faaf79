/* SPDX-License-Identifier: BSD-3-Clause */
/* Damage for the fuzzers and damaged-file tests: random changes of a file's bytes, the same for the same state. */
#ifndef HQ_TESTS_UNIT_MUTATE_H
#define HQ_TESTS_UNIT_MUTATE_H

#include "common/hash.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t mutate_random(uint64_t *state)
{
    return hash_u64((*state)++);
}

static inline void mutate_once(uint8_t *data, size_t size, uint64_t *state)
{
    static const uint64_t odd[] = {0,
                                   1,
                                   2,
                                   7,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   0xffff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xfffffffe,
                                   0xffffffff,
                                   0x100000000,
                                   INT64_MAX,
                                   (uint64_t)INT64_MIN,
                                   UINT64_MAX - 7,
                                   UINT64_MAX};
    uint64_t r = mutate_random(state), value = odd[mutate_random(state) % (sizeof odd / sizeof *odd)];
    size_t at = (r >> 8) % size, width = r & 16 ? 4 : r & 32 ? 8 : 1;

    if (at + width > size)
        return;
    /* Numbers of records stand at multiples of four. */
    if (width > 1)
        at &= ~(size_t)3;
    switch (r & 7) {
    case 0:
    case 1: data[at] ^= (uint8_t)(1u << (r >> 4 & 7)); break;
    case 2:
    case 3: memcpy(data + at, &value, width); break;
    case 4: {
        uint32_t x;

        at &= ~(size_t)3;
        if (at + 4 > size)
            return;
        memcpy(&x, data + at, 4);
        x += (uint32_t)(mutate_random(state) % 9) - 4;
        memcpy(data + at, &x, 4);
        break;
    }
    default: {
        size_t from = mutate_random(state) % size, n = 1 + mutate_random(state) % 32;

        if (from + n <= size && at + n <= size)
            memmove(data + at, data + from, n);
    }
    }
}

/* Some changes, and now and then a shorter file; gives the new size. */
static inline size_t mutate(uint8_t *data, size_t size, uint64_t *state)
{
    for (uint64_t n = 1 + mutate_random(state) % 6; n; n--)
        mutate_once(data, size, state);
    return mutate_random(state) % 16 ? size : mutate_random(state) % (size + 1);
}

#endif
