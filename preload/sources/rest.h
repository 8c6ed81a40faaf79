/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU time that is in no sample: where between two samples a thread's clock begins.
 *
 * A thread ends with less than a period in no sample, and one that is shorter than a period ends without one: a program
 * of short processes and threads would seem to do nothing. So a thread begins at a random point of a period, as if it
 * had run that long already: that of n periods it has n samples on average, whatever n. What it has left over when it
 * ends is such a point too, and is passed on to a thread that begins later: threads in a row have no more chance in
 * their sum than one thread. What nobody has taken when the process ends makes up, on average, for what was begun with.
 */
#ifndef HQ_PRELOAD_SOURCES_REST_H
#define HQ_PRELOAD_SOURCES_REST_H

#include <stdint.h>

/* Tells with how much a thread begins, in nanoseconds: less than a period, but where one that has ended had a sample
 * due. */
int64_t rest_take(int event, int64_t period);

/* Takes over how much a thread that ends has left. */
void rest_leave(int event, int64_t rest);

/* In a forked child. */
void rest_forget(void);

#endif
