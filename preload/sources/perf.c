/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/sources/perf.h"

#include "preload/blocked.h"
#include "preload/file.h"
#include "preload/handler.h"
#include "preload/hot.h"
#include "preload/interruption.h"
#include "preload/kernel.h"
#include "preload/openmp/marks.h"
#include "preload/process.h"
#include "preload/raw.h"
#include "preload/reach.h"
#include "preload/signals.h"
#include "preload/thread.h"
#include "preload/trap.h"
#include "preload/vdso.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/*
 * The signal is the one that perf events can raise by themselves (attr.sigtrap), on the way back to user mode: it ends
 * no system call early and cuts none short, it needs no room in a queue, and one a thread at most is pending. Signals
 * of the descriptor (F_SETSIG) do otherwise: a read of /dev/zero comes back with less than was asked for, and where a
 * real-time signal cannot be queued (RLIMIT_SIGPENDING) the kernel sends SIGIO instead, which ends the program. Before
 * Linux 6.11 these too were sent at once; there the clock is taken only if it is asked for.
 */

/*
 * The kernel notes each firing in a ring of one page, by a record of a header and the time, and says behind which byte
 * the next one comes. So it is known how often the clock has fired since the sample before: in a system call of many
 * periods it fires many times and has one signal, when the call returns. The mapping also keeps the event alive when
 * its descriptor is closed, so there is none that the program could see, close, or inherit.
 */
enum { PAGE = 4096, RECORD = sizeof(struct perf_event_header) + sizeof(uint64_t) /* when it fired */ };

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

static int open_event(uint64_t period, bool in_kernel)
{
    union kernel_event event;

    memset(&event, 0, sizeof event);
    event.known.type = PERF_TYPE_SOFTWARE;
    event.known.size = KERNEL_EVENT_BYTES;
    event.known.config = PERF_COUNT_SW_CPU_CLOCK;
    event.known.sample_period = period;
    event.known.exclude_kernel = !in_kernel;
    event.known.exclude_hv = !in_kernel;
    event.known.watermark = 1; /* nobody waits at the ring */
    event.known.wakeup_watermark = PAGE;
    event.known.sample_type = PERF_SAMPLE_TIME;
    event.known.use_clockid = 1;
    event.known.clockid = CLOCK_MONOTONIC;
    event.whole.bits |= KERNEL_EVENT_SIGTRAP | KERNEL_EVENT_REMOVE_ON_EXEC;
    event.whole.signal_data = reach_mark(0);
    return (int)raw_syscall(SYS_perf_event_open, (long)&event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
}

/* Has this thread no clock afterwards, the result is the reason, as -errno. */
static int open_ring(uint64_t first, bool in_kernel)
{
    void *ring;
    int fd = open_event(first, in_kernel), error = fd;

    if (fd < 0)
        return error;
    error = raw_mmap_at(2 * PAGE, PROT_READ, MAP_SHARED, fd, 0, &ring);
    raw_close(fd);
    if (error)
        return error;
    own.ring = ring;
    own.seen = 0;
    own.every = (int64_t)first;
    return 0;
}

/* A copy of the process, made behind the C library's back, has no such mapping, and may have another one there. */
static void close_ring(const struct perf_event_mmap_page *ring)
{
    if (!raw_frozen && process_is_this())
        raw_munmap((void *)ring, 2 * PAGE);
}

/* The signal has no handler yet, and whoever interrupts this may take any time: so it never fires. */
static bool can_open(bool in_kernel)
{
    const uint64_t never = (uint64_t)1 << 62;
    int error = open_ring(never, in_kernel);

    if (error < 0)
        perf.error = -error;
    else
        close_ring(own.ring);
    own.ring = NULL;
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
    uint64_t fired, now = vdso_clock_ns(CLOCK_MONOTONIC);

    memcpy(&fired, (const char *)own.ring + PAGE + (head - sizeof fired) % PAGE, sizeof fired);
    *fired_ns = fired;
    return now > fired && now - fired < MOST ? (uint32_t)(now - fired) : 0;
}

/* The region that the thread has been in since `own.held` was seen; 0: none, or the collector is looking at its marks.
 */
static uint64_t region_held(void)
{
    uint64_t region;

    if (!guard_enter())
        return 0;
    marks_settle();
    region = marks_held(&own.held);
    guard_leave();
    return region;
}

/*
 * Of the periods that were missed, which make up `rest`, those that the thread has spent in one region for certain go
 * there: what was not counted has grown by so much since it was in that one.
 */
static void missed_where(int64_t rest, int64_t period, uint64_t missed)
{
    uint64_t region = region_held(), in_region = 0;

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

static HOT uint64_t weight_of_sample(int64_t period)
{
    uint64_t head = __atomic_load_n(&own.ring->data_head, __ATOMIC_ACQUIRE), weight, missed, less;
    int64_t rest;

    own.credit += (int64_t)((head - own.seen) / RECORD) * own.every;
    own.seen = head;
    self.late_ns = lateness(head, &marks.as_of_ns);
    weight = own.extra + (uint64_t)(own.credit / period);
    own.credit %= period;
    own.extra = 0;
    own.counted += (int64_t)weight * period;
    rest = raw_cpu_time(CLOCK_THREAD_CPUTIME_ID) - own.counted;
    missed = unseen(rest, period);
    missed_where(rest - own.credit, period, missed);
    own.counted += (int64_t)missed * period;
    less = surplus(rest, period, weight);
    own.counted -= (int64_t)less * period;
    own.elsewhere += (int64_t)less * period;
    return weight - less;
}

/* How often the thread has given its processor away or lost it. */
static long changes(void)
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

    own.changes = changes();
    own.looked = own.counted;
    double fair = (double)(own.changes - before) * A_CHANGE * 1e9 / (double)used;
    own.fair += (fair - own.fair) * (used < LONG ? (double)used / (double)(all < LONG ? all : LONG) : 1);
    every = own.fair > LONGEST ? LONGEST : (int64_t)own.fair;
    every = longer(every > all / YOUNG ? all / YOUNG : every, period);
    if (every > own.wanted + own.wanted / 3 || every < own.wanted - own.wanted / 3)
        own.wanted = every;
}

/* The period of an event can be changed by its descriptor alone: another event takes over. If there can be none, this
 * one goes on, and each firing stands for what it is. */
static COLD void go_on_by(int64_t wanted, int64_t period)
{
    const struct perf_event_mmap_page *before = own.ring;

    if (!perf.frozen && !perf.keeps && !raw_frozen && open_ring((uint64_t)wanted, perf.kind == HQM_CLOCK_PERF) == 0)
        close_ring(before);
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
    if (!own.ring)
        return; /* it was on its way when the clock was stopped */
    int64_t period = (int64_t)options.period[own.event];
    uint64_t weight = weight_of_sample(period);

    if (own.in_region && !sample_in_kernel(own.event, own.in_region, own.region))
        own.in_kernel += own.in_region;
    if (own.in_kernel && sample_in_kernel(own.event, own.in_kernel, 0))
        own.in_kernel = 0;
    if (weight)
        sample(own.event, weight, context);
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
    if (atomic_fetch_add(&perf.clocks, 1) < CLOCKS && open_ring(first, perf.kind == HQM_CLOCK_PERF) == 0)
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
    own.changes = perf.insists ? 0 : changes();
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
    rest = raw_cpu_time(CLOCK_THREAD_CPUTIME_ID) - own.counted + (int64_t)own.in_kernel * period;
    close_ring(ring);
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
    own.ring = NULL;
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
    if (before && open_ring((uint64_t)period, perf.kind == HQM_CLOCK_PERF) == 0) {
        own.credit = longer(raw_cpu_time(CLOCK_THREAD_CPUTIME_ID) - own.counted, 0);
        own.wanted = period;
        close_ring(before);
    } else {
        own.ring = before;
    }
}

void perf_freeze(void)
{
    perf.frozen = true;
}
