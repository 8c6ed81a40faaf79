/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/signals/trap.h"

#include "preload/export.h"
#include "preload/file/cut.h"
#include "preload/file/file.h"
#include "preload/file/image.h"
#include "preload/hot.h"
#include "preload/libc.h"
#include "preload/options.h"
#include "preload/patch/patch.h"
#include "preload/process.h"
#include "preload/raw.h"
#include "preload/reach.h"
#include "preload/signals/blocked.h"
#include "preload/signals/signals.h"
#include "preload/sources/perf.h"
#include "preload/sources/timer.h"
#include "preload/text.h"
#include "preload/thread.h"

#include <elf.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/utsname.h>

/* Handles a SIGTRAP that is not ours: one that the program raises (int3) or that somebody sends has the effect that it
 * has without us. Raised while it is blocked it ends the program. */
static COLD __attribute__((noinline)) void foreign(int number, siginfo_t *info, void *context, bool blocked)
{
    bool raised = signal_is_raised(info);

    if (!blocked && !signal_is_left_to_kernel(number, raised)) {
        signal_foreign(number, info, context);
        return;
    }
    raw_sigaction(number, &(struct raw_action){0}, NULL);
    raw_syscall(SYS_tgkill, raw_getpid(), raw_gettid(), number, 0, 0, 0); /* it comes when the handler has returned */
}

static volatile bool all_are_theirs;
static __thread volatile bool is_theirs __attribute__((tls_model("initial-exec")));

bool trap_is_theirs(void)
{
    return is_theirs || all_are_theirs;
}

void trap_forget(void)
{
    is_theirs = false;
}

/* This thread's clock is left here, another's at its next sample. A filter of system calls may forbid timers: then the
 * clock goes on. A child of vfork has its parent's memory. */
static COLD void yield(bool all, const char *why)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;

    if (perf_clock() <= HQM_CLOCK_TIMER || raw_frozen || !process_is_this())
        return;
    is_theirs = true;
    if (all)
        all_are_theirs = true;
    timer_take_over();
    if (file_header() && !atomic_flag_test_and_set(&told))
        image_warn(why);
}

static const char HAS_EVENTS[] =
    "the program has perf events that send SIGTRAP, of which the kernel keeps one for a thread: threads "
    "with such events are sampled by timers, and all threads where events are inherited or another's";
static const char IS_TRACED[] = "the program has itself traced, by who would take the SIGTRAP of the software clock "
                                "for a breakpoint: it is sampled "
                                "by timers from there on";

/* It is no thread of this process, and has the storage of one. */
static bool is_child_of_vfork(void)
{
    return !process_is_this() && reach_has_base(arch_base());
}

static COLD __attribute__((noinline)) void on_other(int number, siginfo_t *info, void *context)
{
    struct reach outside = reach_enter_any();
    cut_guard(context);
    bool done = patch_trap(info, context, outside.strange);
    bool blocked = (!outside.strange || is_child_of_vfork()) && blocked_is();

    if (!done && !outside.strange && info->si_code == KERNEL_TRAP_PERF)
        yield(false, HAS_EVENTS); /* an event that was opened by a bare system call, or by somebody else */
    if (!done && blocked)
        done = blocked_waits(info, context);
    reach_leave(&outside);
    if (!done)
        foreign(number, info, context, blocked);
}

static HOT ARCH_HANDLER void on_trap(int number, siginfo_t *info, void *context)
{
    uint64_t mark = perf_mark(info);

    if (!mark) {
        on_other(number, info, context);
        return;
    }
    struct reach outside = reach_enter(mark);
    cut_guard(context);
    perf_overflow(context);
    if (__builtin_expect(trap_is_theirs(), 0))
        yield(false, HAS_EVENTS);
    reach_leave(&outside);
}

/* It may be a forked child, which has no file before its first sample, and could not tell. */
static void yield_and_tell(bool all, const char *why)
{
    if (process_is_this() && guard_enter()) {
        thread_lane();
        guard_leave_at(thread_here());
    }
    yield(all, why);
}

static void before_event(const long a[6])
{
    const uint64_t *bits = &((const union kernel_event *)a[0])->whole.bits;

    if (raw_readable((uint64_t)bits) == 1 && *bits & KERNEL_EVENT_SIGTRAP)
        yield_and_tell(*bits & KERNEL_EVENT_INHERIT || ((pid_t)a[1] != 0 && (pid_t)a[1] != raw_gettid()), HAS_EVENTS);
}

void trap_watch(long number, const long a[6])
{
    if (number == SYS_perf_event_open)
        before_event(a);
    else if (number == SYS_ptrace && a[0] == PTRACE_TRACEME)
        yield_and_tell(true, IS_TRACED);
}

/* The result of a request that reads is not the kernel's, so the C library's function makes it. */
EXPORT long ptrace(enum __ptrace_request request, ...)
{
    long a[6] = {request};
    va_list list;

    va_start(list, request);
    for (int i = 1; i < 4; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (options.active)
        trap_watch(SYS_ptrace, a);
    return REAL(ptrace)(request, a[1], a[2], a[3]);
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

bool trap_is_go(void)
{
    return libc_each_module(find_go, NULL);
}

/* Valgrind has its own libraries in front of ours. */
static bool is_in_valgrind(void)
{
    const char *list = getenv("LD_PRELOAD");

    return list && strstr(list, "/vgpreload_");
}

/* Reads what the kernel tells of this process; empty where it tells nothing. */
static const char *read_status(char text[static 4096])
{
    int fd = raw_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
    long bytes = fd < 0 ? 0 : raw_read(fd, text, 4095);

    if (fd >= 0)
        raw_close(fd);
    text[bytes > 0 ? bytes : 0] = 0;
    return text;
}

int trap_tracer(void)
{
    static const char KEY[] = "TracerPid:\t";
    char text[4096];
    const char *at = strstr(read_status(text), KEY);
    int pid = 0;

    for (at = at ? at + strlen(KEY) : ""; *at >= '0' && *at <= '9'; at++)
        pid = pid * 10 + *at - '0';
    return pid;
}

bool trap_is_traced(void)
{
    return is_in_valgrind() || trap_tracer() != 0;
}

bool trap_is_alone(void)
{
    char text[4096];

    return strstr(read_status(text), "\nThreads:\t1\n") != NULL;
}

void trap_take(void)
{
    if (!(signal_ours() & 1ull << (SIGTRAP - 1)))
        signal_take(SIGTRAP, on_trap);
}

bool trap_kernel_is_new(void)
{
    enum { FIRST_MAJOR = 6, FIRST_MINOR = 11 };
    struct utsname names;
    const char *rest;

    if (raw_uname(&names) != 0)
        return false;
    uint64_t major = read_number(names.release, &rest), minor = *rest == '.' ? read_number(rest + 1, &rest) : 0;

    return major > FIRST_MAJOR || (major == FIRST_MAJOR && minor >= FIRST_MINOR);
}
