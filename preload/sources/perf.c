/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/sources/perf.h"

#include "preload/descriptors.h"
#include "preload/file.h"
#include "preload/handler.h"
#include "preload/hot.h"
#include "preload/interruption.h"
#include "preload/kernel.h"
#include "preload/raw.h"
#include "preload/signals.h"
#include "preload/sources/timer.h"
#include "preload/text.h"
#include "preload/thread.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>

/*
 * The signal is the one that perf events can raise by themselves (attr.sigtrap), on the way back to user mode: it ends
 * no system call early and cuts none short, it needs no room in a queue, and one a thread at most is pending. Signals
 * of the descriptor (F_SETSIG) do otherwise: a read of /dev/zero comes back with less than was asked for, and where a
 * real-time signal cannot be queued (RLIMIT_SIGPENDING) the kernel sends SIGIO instead, which ends the program. Before
 * Linux 6.11 these too were sent at once; there the clock is taken only if it is asked for.
 */
enum { MAGIC = 0x68710000, FIRST_MAJOR = 6, FIRST_MINOR = 11 };
enum { SHORTEST = 10000, WATCH = 250000000 }; /* ns: the kernel fires no faster; how often a clock is looked after */

/*
 * What a clock costs is spent by what the program does, not by samples: to open and close one takes some hundred times
 * as long as a timer, and to change between threads that have one microseconds. Unless --clock=perf asks for it
 * whatever it costs, only so many threads have one, at the start and then each second, and a thread that gives its
 * processor away more often than SWITCHES times in a second of CPU time goes on with a timer.
 */
enum { STARTS = 128, STARTS_PER_SECOND = 8, SWITCHES = 4000 };

static struct {
    enum hqm_clock kind;
    int error;
    volatile bool frozen;
    bool insists;      /* --clock=perf */
    uint64_t prepared; /* us, by file_now_us */
    _Atomic uint64_t starts;
    _Atomic uint64_t refused;
} perf;

/* The clock of a thread. Times are nanoseconds of CPU time, those of the event from where that stood at its start. */
static __thread struct {
    int place; /* of its descriptor; 0: none */
    int event;
    bool early;         /* the first period is a shorter one */
    bool watched;       /* there is a timer that looks after it, or none can be had */
    int64_t start;      /* of the event */
    int64_t behind;     /* by how much the event's time is behind the CPU clock */
    int64_t last;       /* when it fired last, by the event's time, as far as is known */
    int64_t drift;      /* what is in no sample yet, beside the time since then */
    uint64_t extra;     /* periods that the next sample stands for beside its own */
    uint64_t in_kernel; /* periods in the kernel that are in no record yet */
    long switches;      /* of the thread, when its clock was looked after last */
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
    event.whole.bits |= KERNEL_EVENT_SIGTRAP | KERNEL_EVENT_REMOVE_ON_EXEC;
    event.whole.signal_data = MAGIC;
    return (int)raw_syscall(SYS_perf_event_open, (long)&event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
}

static bool can_open(bool in_kernel)
{
    int fd = open_event(1000000000, in_kernel);

    if (fd < 0)
        perf.error = -fd;
    else
        raw_close(fd);
    return fd >= 0;
}

/*
 * How often a clock has fired since the sample before, where the kernel is counted too; `elapsed` is by the event's
 * time. If it fires while the thread is in a system call, its one signal is delivered when that returns; what has
 * passed since it fired is not yet a period. So the whole periods since it fired last are counted, and a sample that
 * comes at once tells anew when that was.
 */
static uint64_t fired(int64_t elapsed, int64_t period)
{
    int64_t times = elapsed / period, late;

    times = times > 0 ? times : 1;
    late = elapsed - times * period;
    if (late < period / 32) {
        own.last += elapsed;
        own.drift += late;
    } else {
        own.last += times * period;
    }
    return (uint64_t)times;
}

/* In user mode it comes at once, but does not tell when it fires in the kernel: all periods but the last were there. */
static uint64_t fired_in_user_mode(int64_t elapsed, int64_t period)
{
    int64_t times = (elapsed + period / 2) / period;

    times = times > 0 ? times : 1;
    own.last += elapsed;
    own.drift += elapsed - times * period;
    own.in_kernel += (uint64_t)times - 1;
    return 1;
}

/*
 * The event's time stands still while the kernel changes threads, the CPU clock does not: what that takes adds up to
 * periods in the kernel. Where the CPU clock is the slower one, because a host takes processors away, a sample is left
 * out now and then.
 */
static HOT uint64_t weight_of_sample(int64_t period)
{
    int64_t cpu = raw_cpu_time(CLOCK_THREAD_CPUTIME_ID), time = cpu - own.behind;
    uint64_t weight, count;

    if (descriptors_read(own.place, &count)) {
        time = (int64_t)count + own.start;
        own.drift += cpu - time - own.behind;
        own.behind = cpu - time;
    }
    weight = own.extra + (perf.kind == HQM_CLOCK_PERF ? fired(time - own.last, period)
                                                      : fired_in_user_mode(time - own.last, period));
    own.extra = 0;
    if (own.drift >= period) {
        own.in_kernel += (uint64_t)(own.drift / period);
        own.drift %= period;
    } else if (own.drift <= -period) {
        own.drift += period;
        weight--;
    }
    return weight;
}

static COLD void watch(void)
{
    own.watched = true;
    timer_start(own.event, CLOCK_THREAD_CPUTIME_ID, WATCH, WATCH);
}

static COLD void go_on_by_periods(uint64_t period)
{
    own.early = false;
    raw_syscall(SYS_ioctl, descriptors_number(own.place), (long)PERF_EVENT_IOC_PERIOD, (long)&period, 0, 0, 0);
}

/* The C library learns these names of the kernel in version 2.37. */
static bool is_ours(const siginfo_t *info)
{
    enum { PERF = 6, DATA = 24 };
    uint64_t data;

    memcpy(&data, (const char *)info + DATA, sizeof data);
    return info->si_code == PERF && data == MAGIC;
}

/* What raises the signal itself (int3), or is sent by somebody, does what it would without us. */
static COLD void trap_foreign(int number, siginfo_t *info, void *context)
{
    bool raised = info->si_code > 0;

    if (!signal_is_left_to_kernel(number, raised)) {
        signal_foreign(number, info, context);
        return;
    }
    struct {
        uint64_t handler, flags, restorer, mask;
    } none = {0};
    raw_syscall(SYS_rt_sigaction, number, (long)&none, 0, 8, 0, 0);
    raw_syscall(SYS_tgkill, raw_getpid(), raw_gettid(), number, 0, 0, 0); /* it comes when the handler has returned */
}

static HOT __attribute__((force_align_arg_pointer)) void on_overflow(int number, siginfo_t *info, void *context)
{
    if (!is_ours(info)) {
        trap_foreign(number, info, context);
        return;
    }
    if (!own.place)
        return; /* it was on its way when the clock was stopped */
    uint64_t weight = weight_of_sample((int64_t)options.period[own.event]);

    if (own.in_kernel && sample_in_kernel(own.event, own.in_kernel))
        own.in_kernel = 0;
    if (weight)
        sample(own.event, weight, context);
    if (!perf.frozen && own.early)
        go_on_by_periods(options.period[own.event]);
    if (!perf.frozen && !raw_frozen && !own.watched)
        watch();
    interruption_note(context);
}

static bool kernel_is_new(void)
{
    struct utsname names;
    const char *rest;

    if (uname(&names) != 0)
        return false;
    uint64_t major = read_number(names.release, &rest), minor = *rest == '.' ? read_number(rest + 1, &rest) : 0;

    return major > FIRST_MAJOR || (major == FIRST_MAJOR && minor >= FIRST_MINOR);
}

/* Go takes all signals behind the C library's back, and ends the program at one that it does not know. Its programs
 * have a note of that name. */
static int find_go(struct dl_phdr_info *image, size_t bytes, void *unused)
{
    (void)bytes;
    (void)unused;
    for (int i = 0; i < image->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &image->dlpi_phdr[i];
        const char *at = (const char *)(image->dlpi_addr + part->p_vaddr), *end = at + part->p_memsz;
        while (part->p_type == PT_NOTE && end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr)) + 4) {
            const ElfW(Nhdr) *note = (const void *)at;
            if (note->n_namesz == 4 && memcmp(note + 1, "Go\0", 4) == 0)
                return 1;
            at += sizeof *note + ((note->n_namesz + 3ull) & ~3ull) + ((note->n_descsz + 3ull) & ~3ull);
        }
    }
    return 0;
}

/* A debugger takes every SIGTRAP for its own, and stops. */
static bool is_traced(void)
{
    char text[4096];
    int fd = raw_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
    long bytes = fd < 0 ? 0 : raw_read(fd, text, sizeof text - 1);

    if (fd >= 0)
        raw_close(fd);
    text[bytes > 0 ? bytes : 0] = 0;
    const char *tracer = strstr(text, "TracerPid:\t");
    return tracer && tracer[strlen("TracerPid:\t")] != '0';
}

void perf_prepare(void)
{
    const char *text = getenv("HQ_CLOCK"), *wanted = text ? text : "auto";
    bool insists = strcmp(wanted, "perf") == 0, is_new = kernel_is_new();

    if (perf.kind)
        return;
    perf.insists = insists;
    perf.prepared = file_now_us();
    perf.kind = HQM_CLOCK_TIMER;
    if (strcmp(wanted, "timer") == 0)
        return;
    if (is_traced())
        perf.error = EBUSY;
    else if (dl_iterate_phdr(find_go, NULL) || (!is_new && !insists))
        perf.error = EOPNOTSUPP;
    else if (can_open(true))
        perf.kind = HQM_CLOCK_PERF;
    else if (insists && can_open(false))
        perf.kind = HQM_CLOCK_PERF_USER;
    if (perf.kind == HQM_CLOCK_TIMER)
        return;
    signal_take(SIGTRAP, on_overflow);
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

/* How often the thread has given its processor away or lost it. */
static long switches(void)
{
    struct rusage usage;

    return raw_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0) < 0 ? 0
                                                                                   : usage.ru_nvcsw + usage.ru_nivcsw;
}

static bool open_clock(uint64_t first)
{
    int fd = perf.frozen ? -EPERM : open_event(first, perf.kind == HQM_CLOCK_PERF);

    own.place = fd < 0 ? 0 : descriptors_keep(fd);
    return own.place;
}

bool perf_start(int event, int64_t carried)
{
    int64_t period = (int64_t)options.period[event], first = carried < period ? period - carried : 0;

    if (perf.kind == HQM_CLOCK_TIMER || own.place)
        return false;
    first = first < SHORTEST && period > SHORTEST ? SHORTEST : first;
    own.event = event;
    own.early = first < period;
    own.watched = false;
    own.extra = carried >= period ? (uint64_t)(carried / period - 1) : 0;
    own.drift = carried >= period ? carried % period : 0;
    own.in_kernel = 0;
    own.start = raw_cpu_time(CLOCK_THREAD_CPUTIME_ID);
    own.behind = 0;
    own.last = own.start + first - period;
    if (!is_affordable() || !open_clock((uint64_t)first)) {
        note_refused();
        return false;
    }
    own.switches = perf.insists ? 0 : switches();
    if (self.number == 0)
        watch();
    return true;
}

bool perf_runs(int event)
{
    return own.place && own.event == event;
}

int64_t perf_stop(void)
{
    int64_t period = (int64_t)options.period[own.event], rest;
    int place = own.place;

    own.place = 0;
    atomic_signal_fence(memory_order_seq_cst);
    rest = raw_cpu_time(CLOCK_THREAD_CPUTIME_ID) - own.behind - own.last + own.drift +
           (int64_t)(own.extra + own.in_kernel) * period;
    if (!perf.frozen && !raw_frozen)
        descriptors_close(place);
    if (perf.kind == HQM_CLOCK_PERF_USER && rest >= period && sample_in_kernel(own.event, (uint64_t)(rest / period)))
        rest %= period;
    return rest;
}

void perf_forget(void)
{
    own.place = 0;
    atomic_store(&perf.refused, 0);
    atomic_store(&perf.starts, 0);
    descriptors_close_all();
}

/* What is in no sample goes on to the timer. */
static void leave_to_timer(int event)
{
    int64_t period = (int64_t)options.period[event], carried = perf_stop();

    note_refused();
    timer_stop(event);
    self.owed[event] = carried - raw_cpu_time(CLOCK_THREAD_CPUTIME_ID);
    self.extra[event] = carried > period ? (uint32_t)(carried / period - 1) : 0;
    timer_start(event, CLOCK_THREAD_CPUTIME_ID, carried < period ? (uint64_t)(period - carried) : 1, (uint64_t)period);
}

static bool switches_much(void)
{
    long before = own.switches;

    own.switches = switches();
    return !perf.insists && own.switches - before > SWITCHES / (1000000000 / WATCH);
}

void perf_watch(int event)
{
    int64_t period = (int64_t)options.period[event], now;

    if (raw_frozen || perf.frozen)
        return;
    if (descriptors_is_open(own.place)) {
        if (switches_much())
            leave_to_timer(event);
        return;
    }
    now = raw_cpu_time(CLOCK_THREAD_CPUTIME_ID) - own.behind;
    descriptors_forget(own.place);
    own.place = 0;
    file_lost(HQM_LOSS_CLOCK, (uint64_t)((now - own.last) / period));
    note_refused();
    timer_stop(event);
    self.owed[event] = (now - own.last) % period - now - own.behind;
    self.extra[event] = 0;
    timer_start(event, CLOCK_THREAD_CPUTIME_ID, (uint64_t)period, (uint64_t)period);
}

void perf_freeze(void)
{
    perf.frozen = true;
    descriptors_freeze();
}
