/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/sources/perf.h"

#include "preload/signals/blocked.h"
#include "preload/file/file.h"
#include "preload/handler.h"
#include "preload/hot.h"
#include "preload/waits/interruption.h"
#include "preload/openmp/marks.h"
#include "preload/raw.h"
#include "preload/reach.h"
#include "preload/signals/signals.h"
#include "preload/sources/perf_ring.h"
#include "preload/thread.h"
#include "preload/signals/trap.h"
#include "preload/walk/vdso.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/*
 * The cost of a clock depends on what the program does, not on samples: to open and close one takes some hundred times
 * as long as a timer. So, unless --clock=perf asks for it whatever it costs, only so many threads have one, at the
 * start and then each second.
 */
enum { STARTS = 128, STARTS_PER_SECOND = 8 };

/*
 * And at each change of threads the kernel sets and cancels the clock's own timer. That is dear (microseconds, in a
 * virtual machine) while this is the next timer of the processor, since the hardware is told then, and cheap while
 * the tick comes first: a clock whose period is many ticks is the next one for half a tick of each period. So a
 * thread that changes often is sampled less often: for each change in a second of CPU time the period has A_CHANGE
 * more, and what the clock costs stays below a bound. Each sample stands for as much as it was: nothing is
 * counted twice or left out. But no period is longer than LONGEST, or than one part in YOUNG of what the thread has
 * used so far. This is looked at once in each LOOK of CPU time, by the changes of the last LONG (all in ns). If the
 * period followed the phases of a program, long ones that begin in one phase would end in another, and stand there for
 * what they are not: of LULESH the procedure that works longest between two changes had a tenth too little.
 */
enum { A_CHANGE = 250, LONGEST = 50000000, YOUNG = 32, LOOK = 20000000, LONG = 1000000000 };
enum { CLOCKS = 512 }; /* at once: the two pages of each are memory that the kernel must not swap out */

static struct {
    enum hqm_clock kind;
    int error;
    volatile bool frozen;
    bool insists;      /* --clock=perf */
    bool keeps;        /* a handler of the program's answers system calls, which cannot be made in ours then: the clock
                          of a thread stays as it was opened */
    uint64_t prepared; /* us, by file_now_us */
    _Atomic int clocks;
    _Atomic uint64_t starts;
    _Atomic uint64_t refused;
    _Atomic uint64_t slowed;
} perf;

/* The clock of a thread. Times are nanoseconds of CPU time. */
static __thread struct {
    const struct perf_event_mmap_page *volatile ring; /* NULL: it has none */
    const struct perf_event_mmap_page *read;          /* one before, which the thread was reading; NULL none */
    int event;
    bool slowed;        /* its period has been a longer one */
    uint64_t seen;      /* of the ring, in bytes */
    int64_t every;      /* from one firing to the next; until the first one less than a period, if a sample was due */
    int64_t wanted;     /* what it shall be from the next sample on */
    int64_t credit;     /* less than a period: what firings stand for beyond whole samples */
    int64_t counted;    /* of the thread's CPU clock is in samples or in `in_kernel` */
    uint64_t extra;     /* periods that the next sample stands for beside its own */
    uint64_t in_kernel; /* periods in the kernel that are in no record yet */
    uint64_t in_region; /* likewise, all of them in this region: */
    uint64_t region;    /* of the mark at */
    uint64_t held;      /* this place of the stack, inside of which the thread has been since (marks.h); 0: of none */
    int64_t elsewhere;  /* so much was not counted when that was seen first */
    int64_t begun;      /* `counted` when it was started, */
    int64_t looked;     /* and when it was looked after last, */
    long changes;       /* after so many changes of threads; */
    double fair;        /* the period that the changes of late call for */
} own __attribute__((tls_model("initial-exec")));

/* No more than a few instructions of the thread lie between: closed by a later handler, if one interrupts a look. */
static void close_read(const struct perf_event_mmap_page *ring)
{
    if (changes.looking) {
        if (!own.read)
            own.read = ring;
        return;
    }
    ring_close(ring);
    if (own.read)
        ring_close(own.read);
    own.read = NULL;
}

/* The signal has no handler yet, and whoever interrupts this may take any time: so it never fires. */
static bool can_open(bool in_kernel)
{
    const uint64_t never = (uint64_t)1 << 62;
    const struct perf_event_mmap_page *ring;
    int error = ring_open(never, in_kernel, &ring);

    if (error < 0)
        perf.error = -error;
    else
        ring_close(ring);
    return error == 0;
}

static int64_t longer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/*
 * CPU time that is in no sample: since the clock fired last, and what it did not see. It stands still while the kernel
 * changes threads, and one of user mode does not fire in the kernel. What of it makes whole periods was there. A sample
 * in user mode comes at once; otherwise as much may have passed since the clock fired as until it fires again.
 */
static uint64_t unseen(int64_t rest, int64_t period)
{
    int64_t margin = period / 2 - (perf.kind == HQM_CLOCK_PERF ? longer(own.every, period) : 0);

    return rest + margin >= period ? (uint64_t)((rest + margin) / period) : 0;
}

/* Where the CPU clock is the slower one, because a host takes processors away, a period is left out now and then. */
static uint64_t surplus(int64_t rest, int64_t period, uint64_t weight)
{
    uint64_t periods = rest < 0 ? (uint64_t)(-rest / period) : 0;

    return periods < weight ? periods : weight;
}

/* How long ago the clock fired last: what it takes the kernel to come to the handler, some 15 us in a virtual machine,
 * is no place of the program's. If that is long, the thread did not run all the time. *fired_ns: when that was. */
static uint32_t lateness(uint64_t head, uint64_t *fired_ns)
{
    enum { MOST = 100000 };
    uint64_t now = vdso_clock_ns(CLOCK_MONOTONIC), fired = ring_fired_ns(own.ring, head);

    *fired_ns = fired;
    return now > fired && now - fired < MOST ? (uint32_t)(now - fired) : 0;
}

/*
 * Of the periods that a clock of user mode has missed, which make up `rest`, those that the thread has spent in one
 * region for certain go there: what was not counted has grown by so much since it was in that one.
 */
static void missed_held(int64_t rest, int64_t period, uint64_t missed)
{
    marks_settle();
    uint64_t region = marks_held(&own.held), in_region = 0;

    if (!region)
        own.elsewhere = rest;
    else if (rest - own.elsewhere >= period)
        in_region = (uint64_t)((rest - own.elsewhere) / period);
    if (in_region > missed)
        in_region = missed;
    own.elsewhere -= (int64_t)(missed - in_region) * period;
    own.in_kernel += missed - in_region;
    own.in_region = in_region;
    own.region = region;
}

/* The other one misses them while the kernel changes threads: they go where it did. */
static void missed_changing(uint64_t missed)
{
    own.region = marks_changing();
    own.in_region = own.region ? missed : 0;
    own.in_kernel += missed - own.in_region;
}

/* Only a clock of user mode has to know at each sample where the thread has been since. */
static bool looks_for_held(void)
{
    return perf.kind == HQM_CLOCK_PERF_USER;
}

/* Returns how many periods were missed; none yet while the collector is at work in the thread. */
static uint64_t missed(int64_t rest, int64_t period)
{
    uint64_t periods = unseen(rest, period);

    own.in_region = 0;
    if ((!periods && !looks_for_held()) || !guard_enter())
        return 0;
    if (looks_for_held())
        missed_held(rest - own.credit, period, periods);
    else
        missed_changing(periods);
    guard_leave();
    return periods;
}

static HOT uint64_t weight_of_sample(int64_t period)
{
    uint64_t head = __atomic_load_n(&own.ring->data_head, __ATOMIC_ACQUIRE), weight, less;
    int64_t rest;

    own.credit += (int64_t)(ring_firings(own.seen, head)) * own.every;
    own.seen = head;
    self.late_ns = lateness(head, &marks.as_of_ns);
    weight = own.extra + (uint64_t)(own.credit / period);
    own.credit %= period;
    own.extra = 0;
    own.counted += (int64_t)weight * period;
    rest = raw_cpu_time(CLOCK_THREAD_CPUTIME_ID) - own.counted;
    own.counted += (int64_t)missed(rest, period) * period;
    less = surplus(rest, period, weight);
    own.counted -= (int64_t)less * period;
    own.elsewhere += (int64_t)less * period;
    return weight - less;
}

/* How often the thread has given its processor away or lost it. */
static long switches(void)
{
    struct rusage usage;

    return raw_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0) < 0 ? 0
                                                                                   : usage.ru_nvcsw + usage.ru_nivcsw;
}

static void note_slowed(void)
{
    struct hqm_header *header = file_header();

    own.slowed = true;
    atomic_fetch_add(&perf.slowed, 1);
    if (header)
        __atomic_fetch_add(&header->slowed_threads, 1, __ATOMIC_RELAXED);
}

/* How often shall this thread be sampled, for what that costs? A longer or shorter period takes another event, so it
 * must be worth while. */
static COLD void look_after(int64_t period)
{
    int64_t used = own.counted - own.looked, all = own.counted - own.begun, every;
    long before = own.changes;

    own.changes = switches();
    own.looked = own.counted;
    double fair = (double)(own.changes - before) * A_CHANGE * 1e9 / (double)used;
    own.fair += (fair - own.fair) * (used < LONG ? (double)used / (double)(all < LONG ? all : LONG) : 1);
    every = own.fair > LONGEST ? LONGEST : (int64_t)own.fair;
    every = longer(every > all / YOUNG ? all / YOUNG : every, period);
    if (every > own.wanted + own.wanted / 3 || every < own.wanted - own.wanted / 3)
        own.wanted = every;
}

/* The thread has a clock, by which its changes are counted, too. It may fire at once, and a handler that knows of it
 * may put another in its place: so it is known only when nothing more is to be done with it. */
static bool watch_ring(uint64_t first)
{
    const struct perf_event_mmap_page *ring;

    if (ring_open(first, perf.kind == HQM_CLOCK_PERF, &ring) < 0)
        return false;
    changes_watch(&ring->lock);
    own.seen = 0;
    own.every = (int64_t)first;
    atomic_signal_fence(memory_order_seq_cst);
    own.ring = ring;
    return true;
}

/* The period of an event can be changed by its descriptor alone: another event takes over. If there can be none, this
 * one goes on, and each firing stands for what it is. */
static COLD void go_on_by(int64_t wanted, int64_t period)
{
    const struct perf_event_mmap_page *before = own.ring;

    if (!perf.frozen && !perf.keeps && !raw_frozen && watch_ring((uint64_t)wanted))
        close_read(before);
    else if (own.every >= period)
        own.wanted = own.every; /* until it is looked after again */
    if (own.every > period && !own.slowed)
        note_slowed();
}

HOT uint64_t perf_mark(const siginfo_t *info)
{
    enum { DATA = 24 };
    uint64_t mark;

    memcpy(&mark, (const char *)info + DATA, sizeof mark);
    return info->si_code == KERNEL_TRAP_PERF && reach_marked(mark) >= 0 ? mark : 0;
}

HOT void perf_overflow(ucontext_t *context)
{
    if (!own.ring || !options.active)
        return; /* it was on its way when the clock was stopped, or another thread has ended measuring (confine.c) */
    int64_t period = (int64_t)options.period[own.event];
    uint64_t weight = weight_of_sample(period);

    if (own.in_region && !sample_in_kernel(own.event, own.in_region, own.region))
        own.in_kernel += own.in_region;
    if (own.in_kernel && sample_in_kernel(own.event, own.in_kernel, 0))
        own.in_kernel = 0;
    if (weight)
        sample(own.event, weight, context);
    if (looks_for_held())
        marks_held_seen();
    self.late_ns = 0;
    marks.as_of_ns = 0;
    if (!perf.insists && !raw_frozen && own.counted - own.looked >= LOOK)
        look_after(period);
    if (own.every != own.wanted)
        go_on_by(own.wanted, period);
    interruption_note(context);
}

/* A seccomp filter that the program was given before it began may have it answer system calls (SECCOMP_RET_TRAP). */
static bool calls_are_answered(void)
{
    struct raw_action now;

    return raw_sigaction(SIGSYS, NULL, &now) == 0 && now.handler > (uint64_t)SIG_IGN;
}

void perf_prepare(void)
{
    const char *text = getenv("HQ_CLOCK"), *wanted = text ? text : "auto";
    bool insists = !strcmp(wanted, "perf"), is_new = trap_kernel_is_new();

    if (perf.kind)
        return;
    perf.insists = insists;
    perf.prepared = file_now_us();
    perf.kind = HQM_CLOCK_TIMER;
    if (!strcmp(wanted, "timer"))
        return;
    if (trap_is_traced())
        perf.error = EBUSY;
    else if (trap_is_go() || (!is_new && !insists))
        perf.error = EOPNOTSUPP;
    else if (can_open(true))
        perf.kind = HQM_CLOCK_PERF;
    else if (insists && can_open(false))
        perf.kind = HQM_CLOCK_PERF_USER;
    if (perf.kind == HQM_CLOCK_TIMER)
        return;
    perf.keeps = calls_are_answered();
    trap_take();
    if (!is_new)
        signal_interrupts();
}

enum hqm_clock perf_clock(void)
{
    return perf.kind;
}

int perf_error(void)
{
    return perf.error;
}

uint64_t perf_refused(void)
{
    return atomic_load(&perf.refused);
}

uint64_t perf_slowed(void)
{
    return atomic_load(&perf.slowed);
}

static void note_refused(void)
{
    struct hqm_header *header = file_header();

    atomic_fetch_add(&perf.refused, 1);
    if (header)
        __atomic_fetch_add(&header->timer_threads, 1, __ATOMIC_RELAXED);
}

static bool is_affordable(void)
{
    uint64_t seconds = (file_now_us() - perf.prepared) / 1000000;

    return perf.insists || atomic_fetch_add(&perf.starts, 1) < STARTS + STARTS_PER_SECOND * seconds;
}

static bool open_clock(uint64_t first)
{
    if (perf.frozen)
        return false;
    if (atomic_fetch_add(&perf.clocks, 1) < CLOCKS && watch_ring(first))
        return true;
    atomic_fetch_sub(&perf.clocks, 1);
    return false;
}

bool perf_start(int event, int64_t carried)
{
    int64_t period = (int64_t)options.period[event], first = carried < period ? period - carried : 0;

    if (perf.kind == HQM_CLOCK_TIMER || own.ring)
        return false;
    /* In a virtual machine, a thread that began with 10 us came to nothing else for up to a second before its first
     * signal, and what that cost was left over for the next thread, which began likewise. */
    first = perf.keeps ? period : longer(first, HQM_SHORTEST_PERIOD);
    own.event = event;
    own.slowed = false;
    own.wanted = period;
    own.extra = carried >= period ? (uint64_t)(carried / period - !perf.keeps) : 0;
    own.credit = perf.keeps ? carried % period : period - first;
    own.counted = raw_cpu_time(CLOCK_THREAD_CPUTIME_ID) - carried;
    own.in_kernel = 0;
    own.held = 0;
    if (blocked_really() || trap_is_theirs() || !is_affordable() || !open_clock((uint64_t)first)) {
        note_refused();
        return false;
    }
    own.begun = own.looked = own.counted;
    own.fair = 0;
    own.changes = perf.insists ? 0 : switches();
    return true;
}

bool perf_stop(int event, int64_t *left)
{
    int64_t period = (int64_t)options.period[event], rest;
    /* A handler that comes now may stop it, too. */
    const struct perf_event_mmap_page *ring = own.event == event
                                                  ? __atomic_exchange_n(&own.ring, NULL, __ATOMIC_SEQ_CST)
                                                  : NULL;

    if (!ring)
        return false;
    rest = options.active /* else that clock may be forbidden */
               ? raw_cpu_time(CLOCK_THREAD_CPUTIME_ID) - own.counted + (int64_t)own.in_kernel * period
               : 0;
    changes_watch(NULL);
    close_read(ring);
    atomic_fetch_sub(&perf.clocks, 1);
    if (perf.kind == HQM_CLOCK_PERF_USER && rest >= period && sample_in_kernel(own.event, (uint64_t)(rest / period), 0))
        rest %= period;
    *left = rest;
    return true;
}

bool perf_leave(int event, int64_t *left)
{
    if (!perf_stop(event, left))
        return false;
    note_refused();
    return true;
}

void perf_forget(void)
{
    own.ring = own.read = NULL;
    trap_forget();
    atomic_store(&perf.refused, 0);
    atomic_store(&perf.slowed, 0);
    atomic_store(&perf.starts, 0);
    atomic_store(&perf.clocks, 0);
}

void perf_settle(void)
{
    int64_t period = (int64_t)options.period[own.event];

    if (!own.ring || own.every >= period || perf.keeps)
        return;
    /* A firing from now on is not looked at. */
    const struct perf_event_mmap_page *before = __atomic_exchange_n(&own.ring, NULL, __ATOMIC_SEQ_CST);
    if (before && watch_ring((uint64_t)period)) {
        own.credit = longer(raw_cpu_time(CLOCK_THREAD_CPUTIME_ID) - own.counted, 0);
        own.wanted = period;
        close_read(before);
    } else {
        own.ring = before;
    }
}

void perf_freeze(void)
{
    perf.frozen = true;
}
