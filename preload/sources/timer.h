/* SPDX-License-Identifier: BSD-3-Clause */
/* A POSIX timer per thread and event, whose signal goes to that thread. */
#ifndef HQ_PRELOAD_SOURCES_TIMER_H
#define HQ_PRELOAD_SOURCES_TIMER_H

#include <stdint.h>
#include <time.h>

/* In nanoseconds: when it fires first, and how often from then on. An errno value, 0: it runs. Safe in a signal
 * handler. */
int timer_start(int event, clockid_t clock, uint64_t first, uint64_t period);

void timer_stop(int event);

#endif
