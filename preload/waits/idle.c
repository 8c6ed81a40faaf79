/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/waits/idle.h"

#include "preload/file/file.h"
#include "preload/handler.h"
#include "preload/hot.h"
#include "preload/openmp/marks.h"
#include "preload/raw.h"
#include "preload/sources/timer.h"
#include "preload/thread.h"
#include "preload/walk/vdso.h"
#include "preload/window.h"

#include <stdatomic.h>

enum { SECOND = 1000000000, WATCH_NS = 1000000 };
#define LONGEST_NS (600ull * SECOND) /* a timer that rests fires all the same, in case nobody can set it any more */

static uint64_t period_ns(void)
{
    return options.period[self.idle.event];
}

/* The instants of the grid that have passed; they count as counted from now on. */
static HOT uint64_t take_periods(struct idle *i, uint64_t now)
{
    uint64_t count = now > i->due_ns ? (now - i->due_ns) / period_ns() : 0;

    i->due_ns += count * period_ns();
    return count;
}

/* Like take_periods, without the periods at which nothing was to be measured. */
static uint64_t take_open_periods(struct idle *i, uint64_t now)
{
    uint64_t closed = window_closed_ns(now), count = take_periods(i, now);
    uint64_t less = (closed - i->closed_ns) / period_ns();

    i->closed_ns = closed;
    return less < count ? count - less : 0;
}

/* Does the thread stand in a system call that waits, which our signal has ended, or that the kernel makes again? */
static HOT bool in_call(const ucontext_t *context)
{
    long number;

    return arch_call_at(context, &number) != ARCH_NO_CALL;
}

/* How often the thread has gone to sleep by itself. */
static uint64_t voluntary_switches(void)
{
    struct rusage usage;

    return raw_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0) == 0 ? (uint64_t)usage.ru_nvcsw : 0;
}

/* ---- what the file says ---- */

static void note_wait(const struct idle *i)
{
    struct hqm_thread *record = self.lane ? self.lane->thread : NULL;
    struct hqm_header *header = file_header();

    if (!record || !header)
        return;
    __atomic_store_n(&record->wait_event, 0, __ATOMIC_RELEASE);
    record->wait_node = i->place.node;
    uint64_t since = header->start_monotonic_ns + i->closed_ns;
    record->wait_us = i->due_ns > since ? (i->due_ns - since) / 1000 : 0;
    __atomic_store_n(&record->wait_event, (uint32_t)i->event + 1, __ATOMIC_RELEASE);
}

static void note_no_wait(void)
{
    struct hqm_thread *record = self.lane ? self.lane->thread : NULL;

    if (record)
        __atomic_store_n(&record->wait_event, 0, __ATOMIC_RELEASE);
}

/* ---- resting and waking ---- */

static void set_timer(struct idle *i, uint64_t periods)
{
    i->slow = periods;
    timer_set(i->event, i->due_ns + periods * period_ns(), periods * period_ns());
}

/* Moves the grid by up to a sixteenth of a period, and by less than a period in all. The timers of all threads have one
 * period, so two that keep their distance for a whole run would keep step: where the sample of one holds up what
 * another waits for, that one would always be seen waiting. */
static HOT void drift(struct idle *i)
{
    enum { STEP = 16, LEAST_NS = 500000 }; /* below that it would cost too much */
    uint64_t period = period_ns(), step;

    if (period < LEAST_NS || raw_frozen || !self.timer[i->event])
        return;
    i->random = i->random * 6364136223846793005u + 1442695040888963407u;
    step = (i->random >> 33) % (period / STEP);
    bool back = i->random >> 32 & 1;

    if (back ? i->drift_ns < step : i->drift_ns + step >= period)
        back = !back;
    i->drift_ns += back ? -step : step;
    i->due_ns += back ? -step : step;
    set_timer(i, 1);
}

static void rest(struct idle *i, uint64_t periods, const ucontext_t *context)
{
    i->place = self.stored;
    i->between = marks_at_end() ? sample_place_between(context) : (struct place){NO_NODE, 0};
    i->closed_ns = window_closed_ns(i->due_ns);
    i->rests = true;
    note_wait(i);
    set_timer(i, periods);
}

static void wake(struct idle *i)
{
    i->rests = i->seen = false;
    note_no_wait();
    set_timer(i, 1);
}

static uint64_t periods_of(uint64_t ns)
{
    return ns > period_ns() ? ns / period_ns() : 1;
}

/* How many periods of CPU time in a wait belong to work that comes to be seen later. */
static uint64_t owe(struct idle *i, uint64_t most)
{
    int64_t now = raw_cpu_time(CLOCK_THREAD_CPUTIME_ID), period = (int64_t)period_ns();

    i->owed_ns += now > i->cpu_ns ? now - i->cpu_ns : 0;
    i->cpu_ns = now;
    uint64_t periods = (uint64_t)(i->owed_ns / period);
    periods = periods < most ? periods : most;
    i->owed_ns -= (int64_t)periods * period;
    self.extra[i->event] += (uint32_t)periods;
    return periods;
}

static uint64_t take_extra(int event)
{
    uint64_t extra = self.extra[event];

    self.extra[event] = 0;
    return extra;
}

/* How many of the `count` periods since `before` were over by `until`. */
static uint64_t periods_until(uint64_t until, uint64_t before, uint64_t count)
{
    uint64_t periods = until > before ? (until - before) / period_ns() : 0;

    return periods < count ? periods : count;
}

/* Waits it at the end of a region that was left meanwhile? *waited: how many of the `count` periods since `before` it
 * has done so; half of them if when is not known. */
static bool was_left(const struct idle *i, uint64_t before, uint64_t count, uint64_t *waited)
{
    uint64_t when;

    if (i->between.node == NO_NODE || !marks_left(&when))
        return false;
    *waited = when ? periods_until(when, before, count) : count / 2;
    return true;
}

/* The `count` periods since `before` of a wait that is over. */
static COLD void count_wait(const struct idle *i, uint64_t before, uint64_t count)
{
    uint64_t waited = count;

    was_left(i, before, count, &waited);
    if (waited)
        sample_there(i->place, i->event, waited, before + waited * period_ns());
    if (count > waited)
        sample_there(i->between, i->event, count - waited, before + count * period_ns());
}

/* It works: what it has used of its CPU clock since the wait was seen came last. */
static COLD void woken(struct idle *i, const ucontext_t *context, uint64_t now)
{
    uint64_t before = i->due_ns, count = take_open_periods(i, now);
    uint64_t ran = (uint64_t)(raw_cpu_time(CLOCK_THREAD_CPUTIME_ID) - i->cpu_ns);
    uint64_t waited = periods_until(now - ran, before, count);

    wake(i);
    if (waited)
        count_wait(i, before, waited);
    if (count > waited)
        sample(i->event, count - waited + take_extra(i->event), context);
}

/* It has run, and waits again: when it went from one wait to the other is not known. */
static COLD void moved(struct idle *i, const ucontext_t *context, uint64_t now)
{
    uint64_t before = i->due_ns, count = take_open_periods(i, now), first;

    count -= owe(i, count);
    first = count / 2;
    was_left(i, before, count, &first);
    wake(i);
    if (first)
        sample_there(i->place, i->event, first, before + first * period_ns());
    if (count > first)
        sample(i->event, count - first, context);
}

/* A sample was taken in a call that waits. Rests, and is true, if the thread has not moved since the last one, or its
 * wrapper will tell when it does. */
static COLD bool look(struct idle *i, const ucontext_t *context)
{
    uint64_t before = i->switches, longer = 2 * i->slow, most = periods_of(SECOND);
    bool same = i->seen && i->place.node == self.stored.node;

    i->seen = false;
    if (self.stored.node == NO_NODE || raw_frozen || !self.lane || !self.timer[i->event])
        return false;
    i->cpu_ns = raw_cpu_time(CLOCK_THREAD_CPUTIME_ID);
    longer = longer < most ? longer : most;
    if (i->inside) { /* at a region's end it is to be seen that the region was left */
        rest(i, marks_at_end() ? longer : self.number == 0 ? most : periods_of(LONGEST_NS), context);
        return true;
    }
    i->seen = true;
    i->place = self.stored;
    i->switches = voluntary_switches();
    if (!same || i->switches != before + 1 || most < 2)
        return false;
    rest(i, longer, context);
    i->watch = timer_watch(i->event, i->watch, WATCH_NS);
    return true;
}

static COLD void rested(struct idle *i, const ucontext_t *context, uint64_t now)
{
    if (now < i->due_ns + period_ns())
        return;
    if (raw_frozen) {
        sample(i->event, take_open_periods(i, now), context);
    } else if (!in_call(context)) {
        woken(i, context, now);
    } else if (i->inside || (i->seen && voluntary_switches() == i->switches + 1)) {
        uint64_t before = i->due_ns, count = take_open_periods(i, now), waited = 0;

        self.stored = i->place;
        if (was_left(i, before, count, &waited) && waited)
            sample_there(i->place, i->event, waited, before + waited * period_ns());
        if (count > waited)
            sample(i->event, count - waited, context);
        if (!look(i, context)) {
            bool seen = i->seen;
            wake(i);
            i->seen = seen;
        }
    } else {
        moved(i, context, now);
        look(i, context);
    }
}

/*
 * A sample of the `count` periods since `before`, and of `extra` that are of now. A thread that wants a processor may
 * get it long after they were due, and has waited for a region's end as long as that was not left by the thread that
 * opened it: those due until then are of the wait.
 */
static HOT void sample_due(int event, uint64_t before, uint64_t count, uint64_t extra, const ucontext_t *context)
{
    uint64_t left = 0, waited;

    if (marks.waiting)
        marks_left(&left);
    waited = periods_until(left, before, count);
    if (waited) {
        marks.as_of_ns = left - 1;
        sample(event, waited, context);
        marks.as_of_ns = 0;
    }
    if (count - waited + extra)
        sample(event, count - waited + extra, context);
}

HOT void idle_sample(int event, ucontext_t *context)
{
    struct idle *i = &self.idle;
    uint64_t now = vdso_clock_ns(CLOCK_MONOTONIC), before = i->due_ns, count;

    if (i->settles)
        return; /* what has passed is counted later: the grid knows */
    if (i->rests) {
        rested(i, context, now);
        return;
    }
    count = take_periods(i, now);
    if (!count)
        return;
    if (in_call(context)) {
        sample_due(event, before, count, 0, context);
        look(i, context);
    } else {
        i->seen = false;
        sample_due(event, before, count, take_extra(event), context);
        drift(i);
    }
}

void idle_awake(const ucontext_t *context)
{
    struct idle *i = &self.idle;

    if (!i->rests || i->settles || i->inside || raw_frozen)
        return;
    if (in_call(context))
        i->watch = timer_watch(i->event, i->watch, WATCH_NS);
    else
        woken(i, context, vdso_clock_ns(CLOCK_MONOTONIC));
}

void idle_end(bool ran)
{
    struct idle *i = &self.idle;
    uint64_t before = i->due_ns, count;

    i->inside = false;
    if (!i->rests || i->settles)
        return;
    i->settles = true;
    atomic_signal_fence(memory_order_seq_cst);
    count = take_open_periods(i, vdso_clock_ns(CLOCK_MONOTONIC));
    if (ran)
        count -= owe(i, count);
    i->rests = i->seen = false;
    note_no_wait();
    if (count)
        count_wait(i, before, count);
    if (!raw_frozen)
        set_timer(i, 1);
    atomic_signal_fence(memory_order_seq_cst);
    i->settles = false;
}

uint64_t idle_start(int event)
{
    uint64_t now = vdso_clock_ns(CLOCK_MONOTONIC);
    int watch = self.idle.watch;

    self.idle = (struct idle){
        .event = event, .watch = watch, .due_ns = now, .slow = 1, .random = now ^ (uint64_t)raw_gettid() << 32};
    return now + options.period[event];
}

void idle_stop(void)
{
    struct idle *i = &self.idle;
    uint64_t extra = self.extra[i->event];

    idle_end(true);
    i->settles = true;
    if (extra && self.timer[i->event] && i->place.node)
        sample_there(i->place, i->event, take_extra(i->event), i->due_ns);
    if (!raw_frozen)
        timer_unwatch(i->watch);
    i->watch = 0;
}

void idle_forget(void)
{
    self.idle = (struct idle){.slow = 1};
}
