/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long threads could have run and had no processor, as the kernel counts it (the second number of
 * /proc/PID/task/TID/schedstat). Under REALTIME this time counts where the thread was; where the end of a wait is
 * known late (waits/idle.h), it may count for the wait. What is timed by entry and exit (regions, calls of MPI, visits)
 * has it in it whatever the clock. So the header has how much it was.
 *
 * It is read when a thread ends that has lived for a millisecond, and of the others when the process does. Where the
 * kernel does not tell nothing is noted. Not for signal handlers.
 */
#ifndef HQ_PRELOAD_DELAY_H
#define HQ_PRELOAD_DELAY_H

/* The initial thread of an image, or of a forked child, begins: what came before is not counted. */
void delay_begin(void);
/* This thread ends; it has its lane still. */
void delay_end(void);
/* The process ends, or calls exec: the threads that still run. */
void delay_note_all(void);

#endif
