/* SPDX-License-Identifier: BSD-3-Clause */
/* A POSIX timer per thread and event, whose signal goes to that thread. */
#ifndef HQ_PRELOAD_SOURCES_TIMER_H
#define HQ_PRELOAD_SOURCES_TIMER_H

#include <stdint.h>

/* The thread's software clock, if it has one, is followed by a timer. Safe in a signal handler. */
void timer_take_over(void);

/* When a timer of elapsed time fires next, by CLOCK_MONOTONIC, and how often from then on. Safe in a signal handler. */
void timer_set(int event, uint64_t next_ns, uint64_t period_ns);

/*
 * Once, when the thread has used so much CPU time from now on, it is told by idle_awake. `watch` is what the call
 * before has returned, 0 the first time; 0: the kernel, or we, have no timer for it. Safe in a signal handler.
 */
int timer_watch(int event, int watch, uint64_t cpu_ns);
void timer_unwatch(int watch);

#endif
