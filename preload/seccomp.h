/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells which system calls a seccomp filter lets pass that the program is about to install: its filter program is run
 * on their numbers. */
#ifndef HQ_PRELOAD_SECCOMP_H
#define HQ_PRELOAD_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>

/* Does a seccomp filter let a system call pass, whatever its arguments are compared with? What cannot be told counts as
 * no. */
bool seccomp_allows(const struct sock_fprog *filter, int number);

#endif
