/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPUTIME and REALTIME: a POSIX timer per thread and event, whose signal goes to that thread.
 *
 * The kernel checks CPU clocks at its own tick (often 250 times a second); what a faster timer misses comes as the overrun
 * count, which becomes weight, so no time is lost. The timers belong to the process image: exec and fork end them.
 */
#include "preload/handler.h"
#include "preload/raw.h"
#include "preload/signals.h"
#include "preload/sources/source.h"
#include "preload/thread.h"

#include <string.h>

enum { MAGIC = 0x68710000 };    /* in the value of our signals, to tell them from others of the same number */

#define TIMER_SIGNAL (SIGRTMAX - 3)

static void on_timer(int number, siginfo_t *info, void *context)
{
    int event = info->si_value.sival_int - MAGIC;

    if (info->si_code != SI_TIMER || event < 0 || event >= options.events) {
        signal_foreign(number, info, context);
        return;
    }
    sample(event, 1u + (unsigned)info->si_overrun, context);
    signal_note_interruption(context);
}

static bool prepare_cputime(int event)
{
    (void)event;
    signal_take(TIMER_SIGNAL, on_timer, false);
    return true;
}

static bool prepare_realtime(int event)
{
    (void)event;
    signal_take(TIMER_SIGNAL, on_timer, true);
    return true;
}

static bool start(int event, clockid_t clock)
{
    uint64_t period = options.period[event];
    struct itimerspec interval = { .it_interval = { (time_t)(period / 1000000000u), (long)(period % 1000000000u) } };
    struct sigevent notify;
    int id;

    memset(&notify, 0, sizeof notify);
    notify.sigev_notify = SIGEV_THREAD_ID;
    notify.sigev_signo = TIMER_SIGNAL;
    notify.sigev_value.sival_int = MAGIC + event;
    notify._sigev_un._tid = raw_gettid();
    if (raw_syscall(SYS_timer_create, clock, (long)&notify, (long)&id, 0, 0, 0) < 0)
        return false;
    interval.it_value = interval.it_interval;
    if (raw_syscall(SYS_timer_settime, id, 0, (long)&interval, 0, 0, 0) < 0) {
        raw_syscall(SYS_timer_delete, id, 0, 0, 0, 0, 0);
        return false;
    }
    self.timer[event] = id + 1;
    return true;
}

static bool start_cputime(int event)
{
    return start(event, CLOCK_THREAD_CPUTIME_ID);
}

static bool start_realtime(int event)
{
    return start(event, CLOCK_MONOTONIC);
}

static void stop(int event)
{
    if (self.timer[event])
        raw_syscall(SYS_timer_delete, self.timer[event] - 1, 0, 0, 0, 0, 0);
    self.timer[event] = 0;
}

static void forget(void)
{
    memset(self.timer, 0, sizeof self.timer);
}

const struct source source_cputime = {
    .name = "CPUTIME", .description = "CPU time of the thread", .dimension = HQM_DIM_SECONDS, .flags = HQM_EVENT_SAMPLED,
    .scale = 1e-9, .prepare = prepare_cputime, .start = start_cputime, .stop = stop, .forget = forget,
};

const struct source source_realtime = {
    .name = "REALTIME", .description = "elapsed time of the thread", .dimension = HQM_DIM_SECONDS, .flags = HQM_EVENT_SAMPLED,
    .scale = 1e-9, .prepare = prepare_realtime, .start = start_realtime, .stop = stop, .forget = forget,
};
