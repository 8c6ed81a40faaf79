/* SPDX-License-Identifier: BSD-3-Clause */
/* closefrom and close_range, which the C library has from 2.34 on: where it has not, as a program would do without. */
#ifndef HQ_TESTS_CLOSING_H
#define HQ_TESTS_CLOSING_H

#include <features.h>
#include <unistd.h>

#if !__GLIBC_PREREQ(2, 34)
#include <sys/syscall.h>

#ifndef SYS_close_range /* Linux 5.9 */
#define SYS_close_range 436
#endif

static inline int close_range(unsigned first, unsigned last, int flags)
{
    return (int)syscall(SYS_close_range, first, last, flags);
}

static inline void closefrom(int first)
{
    close_range((unsigned)first, ~0u, 0);
}
#endif

#endif
