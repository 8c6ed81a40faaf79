/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that wait under REALTIME. A wait that is sampled again and again tells nothing new, and a thousand idle
 * threads would be woken two hundred thousand times a second to tell it. So a thread that waits is left alone, and the
 * samples that its timer would have taken are counted afterwards, at the place where it waits.
 *
 * All is counted on one grid of instants, a period apart, from the start of the thread's timer: `due_ns` is the last
 * one that was counted. So weights add up to elapsed time whatever the timer did, and a wait has exactly the weight
 * that the samples inside of it would have had. How the end of a wait is known:
 *
 *  - In a call that a wrapper of ours makes (`inside`), the wrapper knows. From the first sample on the timer rests
 *    (one in the initial thread comes each second, as a sign of life). A signal handler of the program that is entered
 *    (signals/entry.h) ends it as well.
 *  - In other calls (raw futexes) the timer's period doubles from sample to sample, up to a second, as long as the
 *    thread has not run in between: the kernel's count of its voluntary switches has grown by the one that our own
 *    signal caused. When it has run, the first tick at which it has used a millisecond of CPU time (`watch`, a timer of
 *    its CPU clock) ends the wait; what came since it woke, by its CPU clock, is charged to where it is then. If a
 *    sample comes first and finds it waiting again, the wait that was and the one that is share what is not CPU time,
 *    and the CPU time is charged to the next place where it is seen to work.
 *
 * Place and start of a wait are in the thread's record of the measurement file meanwhile (format/measurement.h), so
 * that a reader counts waits that are under way.
 */
#ifndef HQ_PRELOAD_WAITS_IDLE_H
#define HQ_PRELOAD_WAITS_IDLE_H

#include "preload/walk/unwind.h"

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct idle {
    volatile bool inside;  /* a wrapper of ours makes a call that may wait */
    volatile bool rests;   /* the timer does not come every period */
    volatile bool settles; /* that is being ended */
    bool seen;             /* the last sample was in a system call that waits, at `place` */
    int event;             /* whose timer it is */
    int watch;             /* kernel timer number + 1 of the CPU clock */
    uint64_t due_ns;       /* CLOCK_MONOTONIC */
    uint64_t drift_ns;     /* by which it has been moved */
    uint64_t random;
    uint64_t closed_ns;          /* window_closed_ns() then */
    uint64_t slow;               /* periods between two signals */
    struct place place, between; /* where it is when the region has been left at whose end it waits; no node: at none */
    int64_t cpu_ns;              /* the thread's CPU clock when `place` was seen, */
    uint64_t switches;           /* and how often it had given its processor away */
    int64_t owed_ns;             /* CPU time in waits that is charged to no work yet, less than a period */
};

/* In a thread: its timer of elapsed time starts. Returns when it is to fire first, by CLOCK_MONOTONIC. */
uint64_t idle_start(int event);
/* It stops: what is under way is counted. */
void idle_stop(void);
/* In a forked child. */
void idle_forget(void);

/* The timer's signal has come. In its handler. */
void idle_sample(int event, ucontext_t *context);
/* That of the CPU clock. */
void idle_awake(const ucontext_t *context);

/* The wait that is under way, if one is, is over, by what the caller knows: its wrapper, or a handler of the program.
 * `ran`: the thread may have run since. errno is left alone. */
void idle_end(bool ran);

#endif
