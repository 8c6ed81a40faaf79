/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of a software clock, in which the kernel notes each firing, by a record of a header and the time, and says
 * behind which byte the next one comes. So it is known how often the clock has fired since the sample before: in a
 * system call of many periods it fires many times and has one signal, when the call returns. The mapping also keeps the
 * event alive when its descriptor is closed, so there is none that the program could see, close, or inherit.
 */
#ifndef HQ_PRELOAD_SOURCES_PERF_RING_H
#define HQ_PRELOAD_SOURCES_PERF_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* Of a clock that fires after `first` ns of CPU time, and again after as many. Returns 0, or the reason why there is
 * none, as -errno. */
int ring_open(uint64_t first, bool in_kernel, const struct perf_event_mmap_page **ring);

/* A copy of the process, made behind the C library's back, has no such mapping, and may have another one there. */
void ring_close(const struct perf_event_mmap_page *ring);

/* How often the clock has fired between two places of the ring. */
uint64_t ring_firings(uint64_t from, uint64_t to);

/* When it fired last before a place of the ring, by CLOCK_MONOTONIC. */
uint64_t ring_fired_ns(const struct perf_event_mmap_page *ring, uint64_t place);

#endif
