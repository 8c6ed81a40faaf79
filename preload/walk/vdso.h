/* SPDX-License-Identifier: BSD-3-Clause */
/* The vDSO, the kernel's code in every process. */
#ifndef HQ_PRELOAD_WALK_VDSO_H
#define HQ_PRELOAD_WALK_VDSO_H

#include <stdint.h>
#include <time.h>

/* The kernel's own library is no file: keeps its image beside the measurements, once, so that its code can be named
 * later. */
void vdso_keep(void);

/* Once, when the library is loaded: from then on the time is read without the C library, whose cold code and data cost
 * more than the clock. */
void vdso_find_clock(void);

extern int (*vdso_clock_gettime)(clockid_t, struct timespec *);

/* The instruction that the vDSO reads the time by is about to be forbidden: from then on the kernel is asked. */
void vdso_leave_clock(void);

/* Nanoseconds of a clock. Safe in signal handlers. */
static inline uint64_t vdso_clock_ns(clockid_t clock)
{
    struct timespec now;

    vdso_clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
