/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that give up rights: after chroot, setuid or Landlock the measurement file can no longer be opened to make
 * it longer, and a seccomp filter may end the program for a system call of ours. What will be needed is reserved
 * before. Where a filter forbids even the return from a signal handler, measuring ends with a sentence.
 */
#include "preload/confine.h"

#include "preload/signals/blocked.h"
#include "preload/waits/direct.h"
#include "preload/export.h"
#include "preload/file/file.h"
#include "preload/waits/interruption.h"
#include "preload/options.h"
#include "preload/patch/patch.h"
#include "preload/process.h"
#include "preload/raw.h"
#include "preload/reach.h"
#include "preload/seccomp.h"
#include "preload/sources/perf.h"
#include "preload/sources/source.h"
#include "preload/thread.h"
#include "preload/signals/trap.h"
#include "preload/unloaded.h"
#include "preload/walk/vdso.h"

#include <grp.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH /* since Linux 5.11 */
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF          0
#endif
#ifndef SYS_landlock_restrict_self /* since Linux 5.13 */
#define SYS_landlock_restrict_self 446
#endif

enum { RESERVE = 4 << 20 }; /* about 250,000 samples */

volatile int raw_frozen;
volatile int confined;
volatile int confined_child;

static void reserve(void)
{
    if (!options.active || !guard_enter())
        return;
    if (thread_lane()) {
        file_reserve(RESERVE);
        lane_reserve(self.lane);
    }
    guard_leave_at(thread_here());
}

#define RESERVING(call) \
    do { \
        reserve(); \
        return call; \
    } while (0)

EXPORT int chroot(const char *path)
{
    RESERVING(REAL(chroot)(path));
}
EXPORT int setuid(uid_t user)
{
    RESERVING(REAL(setuid)(user));
}
EXPORT int seteuid(uid_t user)
{
    RESERVING(REAL(seteuid)(user));
}
EXPORT int setreuid(uid_t real, uid_t effective)
{
    RESERVING(REAL(setreuid)(real, effective));
}
EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved)
{
    RESERVING(REAL(setresuid)(real, effective, saved));
}

static void end_measuring(const char *why)
{
    patch_end();
    sources_stop();
    file_note_cpu_time();
    raw_frozen = 1;
    options.active = false;
    self.alive = false;
    say(why, ", so this process is measured only up to here", NULL);
    confined |= CONFINE_NUMBER | CONFINE_TIMERS | CONFINE_SAYING;
}

#define ANY(verdict, filter, ...) \
    any(filter, (const int[]){__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int), verdict)

/* Does the filter do this, or worse, to one of the calls? */
static bool any(const struct sock_fprog *filter, const int *calls, size_t count, enum seccomp_verdict verdict)
{
    for (size_t i = 0; i < count; i++)
        if (seccomp_verdict(filter, calls[i]) >= verdict)
            return true;
    return false;
}

/* System calls of the collector while a thread works that it has begun to measure. */
#define WORKING \
    RAW_OPEN, SYS_close, SYS_fallocate, SYS_mmap, SYS_munmap, SYS_madvise, SYS_prlimit64, SYS_rt_sigprocmask, \
        SYS_rt_sigpending, RAW_STAT, SYS_getcwd, RAW_READLINK, SYS_timer_create, SYS_timer_settime, SYS_timer_delete, \
        SYS_getrusage, SYS_getpid, SYS_gettid, SYS_read, SYS_sched_yield
#define SENDING   SYS_getpid, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_rt_sigtimedwait
/* When a thread or a child begins: these besides. */
#define BEGINNING SYS_sigaltstack, SYS_rt_sigaction, SYS_sched_getaffinity, SYS_getppid, SYS_uname, SYS_mremap
/* When a program begins, or its file is looked at before: these besides. */
#define PROGRAM \
    SYS_perf_event_open, SYS_mprotect, SYS_pread64, SYS_fstat, SYS_getuid, SYS_ppoll, SYS_write, SYS_prctl, \
        SYS_clock_gettime, SYS_rt_sigreturn

/* Would the kernel take it? Programs ask with NULL whether it knows filters. When the right to ask what can be read is
 * given up it is believed. */
static bool is_filter(const struct sock_fprog *filter)
{
    if (!filter || raw_frozen)
        return filter;
    return raw_readable((uint64_t)filter) && raw_readable((uint64_t)&filter->filter) && filter->len &&
           filter->len <= BPF_MAXINSNS && raw_readable((uint64_t)filter->filter) &&
           raw_readable((uint64_t)&filter->filter[filter->len - 1]);
}

/* NULL: strict seccomp. */
static void before_mode(const struct sock_fprog *filter)
{
    bool ends_programs = !filter || ANY(SECCOMP_ENDS, filter, WORKING, SENDING, BEGINNING, PROGRAM) ||
                         ANY(SECCOMP_FAILS, filter, SYS_rt_sigaction); /* signals of ours would end them */

    if (!process_is_this()) { /* the filter is the child's, all memory its parent's */
        confined_child = ends_programs ? raw_getpid() : 0;
        return;
    }
    reserve();
    thread_have_handlers_set_up(); /* the C library's asks for the process's number (getpid) before it returns */
    if (!filter || ANY(SECCOMP_ENDS, filter, WORKING, BEGINNING))
        confined |= CONFINE_BEGINNINGS;
    if (ends_programs) {
        confined |= CONFINE_PROGRAMS;
        unloaded_leave();
    }
    if (!filter || ANY(SECCOMP_FAILS, filter, SYS_rt_sigreturn, SYS_clock_gettime)) {
        self.clockless = !filter;
        end_measuring(!filter ? "strict seccomp forbids to read clocks"
                      : ANY(SECCOMP_FAILS, filter, SYS_rt_sigreturn)
                          ? "a seccomp filter forbids to return from signal handlers"
                          : "a seccomp filter forbids to read clocks");
        return;
    }
    if (ANY(SECCOMP_FAILS, filter, SYS_getpid))
        confined |= CONFINE_NUMBER;
    if (ANY(SECCOMP_FAILS, filter, SYS_timer_delete))
        confined |= CONFINE_TIMERS;
    if (ANY(SECCOMP_FAILS, filter, SYS_write, SYS_fstat, SYS_ppoll, SYS_rt_sigpending, SYS_rt_sigprocmask,
            SYS_rt_sigtimedwait))
        confined |= CONFINE_SAYING;
    if (ANY(SECCOMP_FAILS, filter, SENDING))
        blocked_freeze();
    if (ANY(SECCOMP_FAILS, filter, SYS_perf_event_open, WORKING))
        perf_settle();
    if (ANY(SECCOMP_FAILS, filter, SYS_perf_event_open))
        perf_freeze();
    if (ANY(SECCOMP_FAILS, filter, WORKING))
        raw_frozen = 1;
}

static void before_filter(bool strict, const struct sock_fprog *filter)
{
    if (options.active && (strict || is_filter(filter)))
        before_mode(strict ? NULL : filter);
}

/* Whatever stands behind the C library's calls, its return from signal handlers too, is then the program's. */
static void before_dispatch(unsigned long mode)
{
    if (mode == PR_SYS_DISPATCH_OFF || !process_is_this())
        return;
    reserve();
    end_measuring("the program dispatches its system calls itself");
}

static void before_prctl(int option, const unsigned long a[4])
{
    if (option == PR_SET_SECCOMP && (a[0] == SECCOMP_MODE_STRICT || a[0] == SECCOMP_MODE_FILTER))
        before_filter(a[0] == SECCOMP_MODE_STRICT, (const struct sock_fprog *)a[1]);
    if (options.active && option == PR_SET_SYSCALL_USER_DISPATCH)
        before_dispatch(a[0]);
    if (option == PR_SET_TSC && a[0] != PR_TSC_ENABLE)
        vdso_leave_clock();
}

EXPORT int prctl(int option, ...)
{
    unsigned long a[4];
    va_list list;

    va_start(list, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(list, unsigned long);
    va_end(list);
    before_prctl(option, a);
    return REAL(prctl)(option, a[0], a[1], a[2], a[3]);
}

static bool is_fork(long number)
{
#ifdef SYS_fork
    if (number == SYS_fork)
        return true;
#endif
    return number == SYS_clone || number == SYS_clone3;
}

/* The next library's function, which may be another preloaded one's; before the start the kernel itself is asked. */
static long made_by_next(long number, const long a[6])
{
    __typeof__(&syscall) real = REAL_IF_KNOWN(syscall);

    return real ? real(number, a[0], a[1], a[2], a[3], a[4], a[5])
                : raw_as_libc(raw_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

/* Of calls that have functions above, or none at all. File servers change the user of one thread so, which setuid does
 * not. */
static void before_bare(long number, const long a[6])
{
    switch (number) {
    case SYS_seccomp:
        if (a[0] == SECCOMP_SET_MODE_STRICT || a[0] == SECCOMP_SET_MODE_FILTER)
            before_filter(a[0] == SECCOMP_SET_MODE_STRICT, (const struct sock_fprog *)a[2]);
        break;
    case SYS_prctl: before_prctl((int)a[0], (const unsigned long *)&a[1]); break;
    case SYS_landlock_restrict_self:
    case SYS_pivot_root:
    case SYS_chroot:
    case SYS_setuid:
    case SYS_setreuid:
    case SYS_setresuid: reserve(); break;
    }
}

/* libseccomp calls seccomp(2) through this, and some programs fork by it. */
EXPORT long syscall(long number, ...)
{
    long a[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    before_bare(number, a);
    if (number == SYS_sigaltstack)
        return sigaltstack((const stack_t *)a[0], (stack_t *)a[1]);
    stacks_watch(number, a);
    reach_watch(number, a);
    if (options.active)
        trap_watch(number, a);
    long result;
    if ((number == SYS_rt_sigaction && signal_bare_action(a, &result)) ||
        (number == SYS_rt_sigprocmask && signal_bare_mask(a, &result)))
        return result;
    bool execs = (number == SYS_execve || number == SYS_execveat) && process_before_exec();
    result = direct_call(number, a, made_by_next);
    if (execs)
        process_after_failed_exec();
    if (result == 0 && is_fork(number))
        process_check(); /* a child with memory of its own */
    return result;
}
