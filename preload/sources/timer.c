/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPUTIME and REALTIME: a POSIX timer per thread and event, whose signal goes to that thread.
 *
 * The kernel checks CPU clocks at its own tick (often 250 times a second); what a faster timer misses comes as the
 * overrun count, which becomes weight, so no time is lost. The timers belong to the process image: exec and fork end
 * them.
 */
#include "preload/confine.h"
#include "preload/file/cut.h"
#include "preload/handler.h"
#include "preload/hot.h"
#include "preload/waits/interruption.h"
#include "preload/libc.h"
#include "preload/raw.h"
#include "preload/reach.h"
#include "preload/signals/signals.h"
#include "preload/sources/perf.h"
#include "preload/sources/rest.h"
#include "preload/sources/source.h"
#include "preload/sources/timer.h"
#include "preload/thread.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { WATCH = 0x80 }; /* beside the event in the mark of a signal */

static _Atomic int watches;

static HOT __attribute__((noinline)) void take(int event, siginfo_t *info, void *context)
{
    if (event >= WATCH) {
        idle_awake(context);
        interruption_note(context);
        return;
    }
    if (event == self.idle.event && self.idle.due_ns) {
        idle_sample(event, context);
        interruption_note(context);
        return;
    }
    uint64_t weight = 1u + (unsigned)info->si_overrun + self.extra[event];

    self.extra[event] = 0;
    self.owed[event] -= (int64_t)(weight * options.period[event]);
    sample(event, weight, context);
    interruption_note(context);
}

static HOT ARCH_HANDLER void on_timer(int number, siginfo_t *info, void *context)
{
    uint64_t mark = (uint64_t)info->si_value.sival_ptr;
    int event = info->si_code == SI_TIMER ? reach_marked(mark) : -1;

    if (event < 0 || (event & (WATCH - 1)) >= options.events) {
        signal_foreign(number, info, context);
        return;
    }
    struct reach outside = reach_enter(mark);
    cut_guard(context);
    take(event, info, context);
    reach_leave(&outside);
}

static bool prepare_cputime(int event)
{
    perf_prepare();
    options.weighed = perf_clock() == HQM_CLOCK_PERF ? event + 1 : 0;
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
        libc_setenv("HQ_TOLD", "1");
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

static long set(int id, int flags, uint64_t first, uint64_t period)
{
    struct itimerspec interval = {.it_interval = timespec_of(period), .it_value = timespec_of(first)};

    return raw_syscall(SYS_timer_settime, id, flags, (long)&interval, 0, 0, 0);
}

/* Makes a timer of this thread; returns its number + 1, or -errno. */
static long make(int value, clockid_t clock, int flags, uint64_t first, uint64_t period)
{
    struct sigevent notify;
    int id;

    memset(&notify, 0, sizeof notify);
    notify.sigev_notify = SIGEV_THREAD_ID;
    notify.sigev_signo = SIGNAL_RESERVED;
    notify.sigev_value.sival_ptr = (void *)reach_mark((uint8_t)value);
    notify._sigev_un._tid = raw_gettid();
    long error = raw_syscall(SYS_timer_create, clock, (long)&notify, (long)&id, 0, 0, 0);
    if (error < 0)
        return error;
    error = set(id, flags, first, period);
    if (error < 0)
        raw_syscall(SYS_timer_delete, id, 0, 0, 0, 0, 0);
    return error < 0 ? error : id + 1;
}

static int start_by(int event, clockid_t clock, int flags, uint64_t first, uint64_t period)
{
    long made = make(event, clock, flags, first, period);

    if (made < 0)
        return (int)-made;
    self.timer[event] = (int)made;
    return 0;
}

/* In nanoseconds: when it fires first, and how often from then on. An errno value, 0: it runs. Safe in a signal
 * handler. */
static int timer_start(int event, clockid_t clock, uint64_t first, uint64_t period)
{
    return start_by(event, clock, 0, first, period);
}

void timer_set(int event, uint64_t next_ns, uint64_t period_ns)
{
    if (self.timer[event])
        set(self.timer[event] - 1, TIMER_ABSTIME, next_ns, period_ns);
}

/* Timers are limited by user (ulimit -i), and these are no more than a help: few processes need many. */
int timer_watch(int event, int watch, uint64_t cpu_ns)
{
    enum { MOST = 256 };

    if (watch) {
        set(watch - 1, 0, cpu_ns, 0);
        return watch;
    }
    if (atomic_fetch_add(&watches, 1) < MOST) {
        long made = make(WATCH + event, CLOCK_THREAD_CPUTIME_ID, 0, cpu_ns, 0);
        if (made > 0)
            return (int)made;
    }
    atomic_fetch_sub(&watches, 1);
    return 0;
}

void timer_unwatch(int watch)
{
    if (!watch || confined & CONFINE_TIMERS)
        return;
    raw_syscall(SYS_timer_delete, watch - 1, 0, 0, 0, 0, 0);
    atomic_fetch_sub(&watches, 1);
}

/* Of this thread; nothing if it does not run. Safe in a signal handler. */
static void timer_stop(int event)
{
    if (self.timer[event] && !(confined & CONFINE_TIMERS)) /* it ends with the process */
        raw_syscall(SYS_timer_delete, self.timer[event] - 1, 0, 0, 0, 0, 0);
    self.timer[event] = 0;
}

void timer_take_over(void)
{
    int64_t left;

    for (int event = 0; event < options.events; event++)
        if (perf_leave(event, &left)) {
            self.owed[event] = left - raw_cpu_time(CLOCK_THREAD_CPUTIME_ID);
            timer_start(event, CLOCK_THREAD_CPUTIME_ID, options.period[event], options.period[event]);
        }
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
    int64_t period = (int64_t)options.period[event], carried = rest_take(event, period);

    if (perf_start(event, carried))
        return true;
    self.owed[event] = carried - raw_cpu_time(CLOCK_THREAD_CPUTIME_ID);
    self.extra[event] = carried > period ? (uint32_t)(carried / period - 1) : 0;
    return start(event, CLOCK_THREAD_CPUTIME_ID, carried < period ? (uint64_t)(period - carried) : 1);
}

/* A second event of the same clock has a plain timer. */
static bool start_realtime(int event)
{
    if (self.timer[self.idle.event] && self.idle.due_ns)
        return start(event, CLOCK_MONOTONIC, options.period[event]);
    uint64_t first = idle_start(event);
    int error = start_by(event, CLOCK_MONOTONIC, TIMER_ABSTIME, first, options.period[event]);

    if (error)
        complain(error);
    return !error;
}

static void stop_realtime(int event)
{
    if (event == self.idle.event && self.idle.due_ns && self.timer[event])
        idle_stop();
    timer_stop(event);
}

static void stop_cputime(int event)
{
    int64_t left;

    if (perf_stop(event, &left))
        rest_leave(event, left);
    else if (self.timer[event] && !raw_frozen)
        rest_leave(event, self.owed[event] + raw_cpu_time(CLOCK_THREAD_CPUTIME_ID));
    timer_stop(event);
}

static void forget(void)
{
    memset(self.timer, 0, sizeof self.timer);
    atomic_store(&watches, 0);
    idle_forget();
    rest_forget();
    perf_forget();
}

const struct source source_CPUTIME = {
    .description = "CPU time of the thread",
    .dimension = HQM_DIM_SECONDS,
    .flags = HQM_EVENT_SAMPLED | HQM_EVENT_COUNTED,
    .scale = 1e-9,
    .prepare = prepare_cputime,
    .start = start_cputime,
    .stop = stop_cputime,
    .forget = forget,
};

const struct source source_REALTIME = {
    .description = "elapsed time of the thread",
    .dimension = HQM_DIM_SECONDS,
    .flags = HQM_EVENT_SAMPLED | HQM_EVENT_ELAPSED,
    .scale = 1e-9,
    .prepare = prepare_realtime,
    .start = start_realtime,
    .stop = stop_realtime,
    .forget = forget,
};
