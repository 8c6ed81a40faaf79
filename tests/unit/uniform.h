/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers, the same each time: Marsaglia, Xorshift RNGs, Journal of Statistical Software 8(14), 2003. */
#ifndef HQ_TESTS_UNIT_UNIFORM_H
#define HQ_TESTS_UNIT_UNIFORM_H

#include "common/hash.h"
#include <stdint.h>

/* Between 0 and 1, and neither. */
static inline double uniform(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

/* From 0 to below 1, of a sequence whose state is *seed. */
static inline double uniform_of(uint64_t *seed)
{
    return (double)(hash_u64(++*seed) >> 11) * 0x1p-53;
}

#endif
