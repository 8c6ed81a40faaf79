/* SPDX-License-Identifier: BSD-3-Clause */
/* When to measure: --delay, --duration, --stopped, and the program's own hq_start and hq_stop (hq.h). */
#ifndef HQ_PRELOAD_WINDOW_H
#define HQ_PRELOAD_WINDOW_H

#include "format/measurement.h"
#include "preload/options.h"

#include <stdatomic.h>

/* As window_is_open, where --delay or --duration was given. */
bool window_is_within(uint64_t now_us);

/* Is now, in microseconds since the start of the measurement file, a time to measure? Safe in signal handlers. */
static inline bool window_is_open(uint64_t now_us)
{
    if (atomic_load_explicit(&options.stopped, memory_order_relaxed))
        return false;
    return (!options.from_us && !options.until_us) || window_is_within(now_us);
}

/* Like window_is_open, for this instant; the clock is read only if that matters. There is a measurement file. */
bool window_is_open_now(void);

/* How much of the time up to an instant of CLOCK_MONOTONIC it was closed after it had been open. Differences count. */
uint64_t window_closed_ns(uint64_t now_ns);

/* Writes into a header what a reader has to know of it. */
void window_note(struct hqm_header *header);

#endif
