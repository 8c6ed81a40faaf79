/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of a relative timeout is left when a call is made again. */
#ifndef HQ_PRELOAD_DEADLINE_H
#define HQ_PRELOAD_DEADLINE_H

#include <stdint.h>
#include <time.h>

static inline int64_t deadline_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline struct timespec deadline_rest(int64_t deadline)
{
    int64_t rest = deadline - deadline_now();

    if (rest < 0)
        rest = 0;
    return (struct timespec){ rest / 1000000000, rest % 1000000000 };
}

/* The end of a timeout that starts now; far away if it is longer than three centuries. */
static inline int64_t deadline_after(const struct timespec *timeout)
{
    if (timeout->tv_sec > 1000000000)
        return INT64_MAX;
    return deadline_now() + (int64_t)timeout->tv_sec * 1000000000 + timeout->tv_nsec;
}

#endif
