/* SPDX-License-Identifier: BSD-3-Clause */
/* The signal handler: all that happens at a sample, in one page. */
#ifndef HQ_PRELOAD_HANDLER_H
#define HQ_PRELOAD_HANDLER_H

#include "preload/walk/unwind.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* One sample of an event with a weight, in periods. Safe in signal handlers: calls nothing that locks or allocates. */
void sample(int event, uint64_t weight, const ucontext_t *context);

/* Weight that a thread has earned at a place where it does not stand any more, up to an instant of CLOCK_MONOTONIC. */
void sample_there(struct place place, int event, uint64_t weight, uint64_t until_ns);

/* Where a thread that waits at the end of a region is when that has been left. Likewise. */
struct place sample_place_between(const ucontext_t *context);

/*
 * Time that was spent in the kernel at places that are not known: a row of its own, in a region (of marks.h) if all of
 * it was in that one, else 0. In a signal handler, or with no sample in flight. False: not now, since the collector is
 * at work in the thread.
 */
bool sample_in_kernel(int event, uint64_t weight, uint64_t region);

/* The samples that came while the guard was up, as the collector's own work at a place. With the guard up. */
void sample_missed(struct place place);

#endif
