/* SPDX-License-Identifier: BSD-3-Clause */
/* What a seccomp filter that the program is about to install will let pass: its program is run on numbers of system
 * calls. */
#ifndef HQ_PRELOAD_SECCOMP_H
#define HQ_PRELOAD_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>

/* Does a seccomp filter let a system call pass, whatever its arguments are compared with? What cannot be told counts as
 * no. */
bool seccomp_allows(const struct sock_fprog *filter, int number);

#endif
