/* SPDX-License-Identifier: BSD-3-Clause */
/* Elapsed time: seconds of a clock that nobody sets, to be subtracted from one another. */
#ifndef HQ_COMMON_CLOCK_H
#define HQ_COMMON_CLOCK_H

#include <time.h>

static inline double clock_seconds(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

#endif
