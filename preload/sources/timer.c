/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPUTIME and REALTIME: a POSIX timer per thread and event, whose signal goes to that thread.
 *
 * The kernel checks CPU clocks at its own tick (often 250 times a second); what a faster timer misses comes as the
 * overrun count, which becomes weight, so no time is lost. The timers belong to the process image: exec and fork end
 * them.
 *
 * A thread ends with less than a period in no sample, and a thread that is shorter than a period ends without one: a
 * program that makes threads for little work would seem to do nothing. What CPU time is left over is therefore passed
 * on: the next thread that starts has its first sample so much earlier, and if that is periods, it stands for them.
 * Totals are right, and whose the time was is right on average.
 */
#include "preload/handler.h"
#include "preload/hot.h"
#include "preload/interruption.h"
#include "preload/libc.h"
#include "preload/raw.h"
#include "preload/signals.h"
#include "preload/sources/perf.h"
#include "preload/sources/source.h"
#include "preload/sources/timer.h"
#include "preload/thread.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC = 0x68710000 }; /* in the value of our signals, to tell them from others of the same number */

static _Atomic int64_t left_over[EVENTS_MAX]; /* by the threads that have ended */

/* Some emulators (QEMU 7) call handlers with a stack that is not aligned. */
static HOT __attribute__((force_align_arg_pointer)) void on_timer(int number, siginfo_t *info, void *context)
{
    int event = info->si_value.sival_int - MAGIC;

    if (info->si_code != SI_TIMER || event < 0 || event >= options.events) {
        signal_foreign(number, info, context);
        return;
    }
    if (perf_runs(event)) {
        perf_watch(event);
        return;
    }
    uint64_t weight = 1u + (unsigned)info->si_overrun + self.extra[event];

    self.extra[event] = 0;
    self.owed[event] -= (int64_t)(weight * options.period[event]);
    sample(event, weight, context);
    interruption_note(context);
}

static bool prepare_cputime(int event)
{
    (void)event;
    perf_prepare();
    signal_take(SIGNAL_RESERVED, on_timer);
    return true;
}

static bool prepare_realtime(int event)
{
    (void)event;
    signal_take(SIGNAL_RESERVED, on_timer);
    signal_interrupts();
    return true;
}

/* Timers are limited by user, together with pending signals. Said once by a process, and not by the children of one
 * that has said it at its start. */
static void complain(long error)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    if (atomic_flag_test_and_set(&said) || getenv("HQ_TOLD"))
        return;
    say("the kernel refuses a timer (", libc_error((int)error), "; ulimit -i), so threads run unmeasured", NULL);
    if (self.number == 0)
        setenv("HQ_TOLD", "1", 1);
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

int timer_start(int event, clockid_t clock, uint64_t first, uint64_t period)
{
    struct itimerspec interval = {.it_interval = timespec_of(period), .it_value = timespec_of(first)};
    struct sigevent notify;
    int id;

    memset(&notify, 0, sizeof notify);
    notify.sigev_notify = SIGEV_THREAD_ID;
    notify.sigev_signo = SIGNAL_RESERVED;
    notify.sigev_value.sival_int = MAGIC + event;
    notify._sigev_un._tid = raw_gettid();
    long error = raw_syscall(SYS_timer_create, clock, (long)&notify, (long)&id, 0, 0, 0);
    if (error < 0)
        return (int)-error;
    error = raw_syscall(SYS_timer_settime, id, 0, (long)&interval, 0, 0, 0);
    if (error < 0) {
        raw_syscall(SYS_timer_delete, id, 0, 0, 0, 0, 0);
        return (int)-error;
    }
    self.timer[event] = id + 1;
    return 0;
}

void timer_stop(int event)
{
    if (self.timer[event])
        raw_syscall(SYS_timer_delete, self.timer[event] - 1, 0, 0, 0, 0, 0);
    self.timer[event] = 0;
}

static bool start(int event, clockid_t clock, uint64_t first)
{
    int error = timer_start(event, clock, first, options.period[event]);

    if (error)
        complain(error);
    return !error;
}

static bool start_cputime(int event)
{
    int64_t carried = atomic_exchange(&left_over[event], 0), period = (int64_t)options.period[event];

    if (perf_start(event, carried))
        return true;
    self.owed[event] = carried - raw_cpu_time(CLOCK_THREAD_CPUTIME_ID);
    self.extra[event] = carried > period ? (uint32_t)(carried / period - 1) : 0;
    return start(event, CLOCK_THREAD_CPUTIME_ID, carried < period ? (uint64_t)(period - carried) : 1);
}

static bool start_realtime(int event)
{
    return start(event, CLOCK_MONOTONIC, options.period[event]);
}

static void stop_cputime(int event)
{
    if (perf_runs(event))
        atomic_fetch_add(&left_over[event], perf_stop());
    else if (self.timer[event] && !raw_frozen)
        atomic_fetch_add(&left_over[event], self.owed[event] + raw_cpu_time(CLOCK_THREAD_CPUTIME_ID));
    timer_stop(event);
}

static void forget(void)
{
    memset(self.timer, 0, sizeof self.timer);
    memset(left_over, 0, sizeof left_over);
    perf_forget();
}

const struct source source_CPUTIME = {
    .description = "CPU time of the thread",
    .dimension = HQM_DIM_SECONDS,
    .flags = HQM_EVENT_SAMPLED,
    .scale = 1e-9,
    .prepare = prepare_cputime,
    .start = start_cputime,
    .stop = stop_cputime,
    .forget = forget,
};

const struct source source_REALTIME = {
    .description = "elapsed time of the thread",
    .dimension = HQM_DIM_SECONDS,
    .flags = HQM_EVENT_SAMPLED,
    .scale = 1e-9,
    .prepare = prepare_realtime,
    .start = start_realtime,
    .stop = timer_stop,
    .forget = forget,
};
