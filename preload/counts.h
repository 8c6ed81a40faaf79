/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The totals so far, by thread, of the events that are counted (options.counted): counters of the processor, and exact
 * amounts. A trace has them behind each mark and each sample of a clock, so that visits have exact totals, and folds
 * know how far the thread had come at each sample. With the guard up; safe in signal handlers.
 */
#ifndef HQ_PRELOAD_COUNTS_H
#define HQ_PRELOAD_COUNTS_H

#include "preload/thread.h"

/* A mark was made at which CPU time was noted: from then on it is noted at samples of a clock too, for folds on it. */
extern bool counts_marked;

/* Called when the thread has taken its lane: forgets the totals that the thread before has left there. */
void counts_begin(void);

/* Exact amounts are added where they are added to a cell. */
static inline void counts_add(int event, uint64_t amount)
{
    self.lane->room->counted[event] += amount;
}

/* Behind a mark or sample of that time: notes what has grown since the last one. */
void counts_note(uint64_t now_us);

/* Are they wanted at samples of this event? */
static inline bool counts_wanted(int event)
{
    return __builtin_expect(options.counted != 0 || counts_marked, 0) && options.timed >> event & 1;
}

/* At a sample of a clock: reads the counters and the thread's CPU time, before what it takes to find the call path is
 * in them; and, behind the sample, notes what was read. */
void counts_read(void);
void counts_at_sample(uint64_t now_us);

/* Behind a mark: notes the thread's CPU time, if that is sampled, up to 20,000 times a second. */
void counts_clock(uint64_t now_us);

#endif
