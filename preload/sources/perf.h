/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's software clock: a perf event of type cpu-clock per thread, which fires by a timer of its own, not at
 * the tick, and whose signal goes to that thread. No descriptor of it stays open.
 *
 * HQ_CLOCK says whether it is wanted: `timer` never, `perf` also where the kernel may not be counted, else (`auto`)
 * where it may.
 */
#ifndef HQ_PRELOAD_SOURCES_PERF_H
#define HQ_PRELOAD_SOURCES_PERF_H

#include "format/measurement.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Once, if CPUTIME is asked for: finds out what the kernel allows. */
void perf_prepare(void);

/* The clock that samples CPUTIME in this process, and why there is no better one (an errno value; 0: not asked for). */
enum hqm_clock perf_clock(void);
int perf_error(void);

/* How many threads of this process had to take a timer though there is this clock. */
uint64_t perf_refused(void);

/* How many were sampled less often than asked for, because they change so often that it would cost too much. Not with
 * --clock=perf. */
uint64_t perf_slowed(void);

/*
 * In a thread: starts its clock for an event. `carried` is CPU time, in nanoseconds, that its first sample stands for
 * beside its own (rest.h). False: the thread has to take a timer.
 */
bool perf_start(int event, int64_t carried);

/* Stops it, and tells the CPU time that is in no sample; false: the thread has none for this event. */
bool perf_stop(int event, int64_t *left);

/* Like perf_stop, where a timer goes on sampling. Safe in a signal handler. */
bool perf_leave(int event, int64_t *left);

/* In a forked child. */
void perf_forget(void);

/* A SIGTRAP has come: its mark (reach.h) if it is of this clock, 0: it is not. Then: takes the sample. In its handler.
 */
uint64_t perf_mark(const siginfo_t *info);
void perf_overflow(ucontext_t *context);

/* The clock of this thread shall go on without another one: where it waits for its first sample, which comes sooner
 * than a period, it is opened anew. */
void perf_settle(void);

/* From now on a seccomp filter forbids calls that new clocks need: those that run go on. */
void perf_freeze(void);

#endif
