/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU time by the clock of the thread, so that a loaded machine makes a test slower but not different. */
#ifndef HQ_TESTS_BURN_H
#define HQ_TESTS_BURN_H

#include <time.h>

static inline double thread_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static __attribute__((noinline, unused)) void burn(double seconds)
{
    double end = thread_seconds() + seconds;
    volatile unsigned x = 1;

    while (thread_seconds() < end)
        for (int i = 0; i < 20000; i++)
            x = x * 1103515245 + 12345;
}

#endif
