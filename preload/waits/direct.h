/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that wait, made by syscall(2) in place of the C library's functions: those that fail with EINTR when a handler
 * has run, whatever SA_RESTART says, are made again if the handler was ours alone.
 */
#ifndef HQ_PRELOAD_WAITS_DIRECT_H
#define HQ_PRELOAD_WAITS_DIRECT_H

#include <stdbool.h>

/* Makes the call `number` with these arguments by `next`. errno and the result are those of syscall(2). False: it is
 * none of them, and was not made. */
bool direct_wait(long number, const long a[6], long (*next)(long number, const long a[6]), long *result);

#endif
