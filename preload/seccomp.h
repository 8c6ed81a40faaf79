/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells which system calls a seccomp filter lets pass that the program is about to install: its filter program is run
 * on their numbers. */
#ifndef HQ_PRELOAD_SECCOMP_H
#define HQ_PRELOAD_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>

enum seccomp_verdict {
    SECCOMP_PASSES,
    SECCOMP_FAILS, /* with an error */
    SECCOMP_ENDS   /* the program, or somebody else decides, or it cannot be told */
};

/* Tells what a filter does with a system call, whatever its arguments are: where it looks at them, that cannot be told.
 */
enum seccomp_verdict seccomp_verdict(const struct sock_fprog *filter, int number);

#endif
