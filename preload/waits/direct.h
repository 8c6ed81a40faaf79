/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls that the program makes by syscall(2) in place of the C library's functions: what these do for calls that
 * wait or move a part (interruption.h, whole.h) is done for them. They are no cancellation points.
 */
#ifndef HQ_PRELOAD_WAITS_DIRECT_H
#define HQ_PRELOAD_WAITS_DIRECT_H

typedef long direct_next(long number, const long a[6]);

/* Makes the call `number` with these arguments by `next`, any call. errno and the result are those of syscall(2). */
long direct_call(long number, const long a[6], direct_next *next);

/* Likewise, of those that the files have functions for: sleep.c receive.c copies.c. */
long direct_sleep(long number, const long a[6], direct_next *next);
long direct_move(long number, const long a[6], direct_next *next);
long direct_copy(long number, const long a[6], direct_next *next);

#endif
