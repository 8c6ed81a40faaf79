/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/tree/recursion.h"
#include <string.h>

enum { PERIOD_MAX = 16, TIMES_MIN = 3 };

size_t recursion_times(const uint32_t *path, size_t len, size_t at, size_t *period)
{
    size_t best = 1, saved = 0;

    *period = 1;
    for (size_t p = 1; p <= PERIOD_MAX && at + p * TIMES_MIN <= len; p++) {
        size_t times = 1;

        while (at + (times + 1) * p <= len && !memcmp(path + at, path + at + times * p, p * sizeof *path))
            times++;
        if (times >= TIMES_MIN && p * (times - 1) > saved) {
            saved = p * (times - 1);
            best = times;
            *period = p;
        }
    }
    return best;
}
