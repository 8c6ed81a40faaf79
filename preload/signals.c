/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/signals.h"

#include "preload/export.h"
#include "preload/hot.h"
#include "preload/options.h"
#include "preload/raw.h"
#include "preload/thread.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/signalfd.h>

static uint64_t ours; /* bit n - 1: signal n */
static bool wall_clock;
static struct sigaction shadow[65]; /* what the program asked for with our numbers */

static uint64_t bit(int number)
{
    return number >= 1 && number <= 64 ? 1ull << (number - 1) : 0;
}

static bool is_ours(int number)
{
    return ours & bit(number);
}

void signal_take(int number, void (*handler)(int, siginfo_t *, void *), bool interrupts)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

    /* All others wait: a handler of the program that jumped out of ours would leave the guard up for good. */
    sigfillset(&action.sa_mask);
    REAL(sigaction)(number, &action, NULL);
    ours |= bit(number);
    wall_clock |= interrupts;
}

void signal_unblock(void)
{
    raw_sigmask(SIG_UNBLOCK, &ours, NULL);
}

void signal_foreign(int number, siginfo_t *info, void *context)
{
    const struct sigaction *action = &shadow[number];

    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(number, info, context);
    else if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
        action->sa_handler(number);
}

/* The program's signals that wait until our handler is done. */
static uint64_t waiting(const ucontext_t *context)
{
    uint64_t pending = 0, blocked;

    memcpy(&blocked, &context->uc_sigmask, sizeof blocked);
    raw_syscall(SYS_rt_sigpending, (long)&pending, 8, 0, 0, 0, 0);
    return pending & ~blocked & ~ours;
}

/* Will one of them enter a handler that was set up to interrupt system calls? */
static bool interrupts(uint64_t signals)
{
    for (int number = 1; number <= 64; number++) {
        struct {
            uint64_t handler, flags, restorer, mask;
        } action;

        if (signals & bit(number) && raw_syscall(SYS_rt_sigaction, number, 0, (long)&action, 8, 0, 0) == 0 &&
            action.handler > 1 && !(action.flags & SA_RESTART))
            return true;
    }
    return false;
}

/* Calls that wait, and that the kernel makes again after a handler with SA_RESTART. */
static bool is_restarted(long number)
{
    switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_futex:
    case SYS_flock:
    case SYS_fcntl:
    case SYS_open:
    case SYS_openat:
    case SYS_ioctl:
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
    case SYS_getrandom: return true;
    default: return false;
    }
}

/*
 * The kernel has set the result of a call to EINTR and is about to return behind the syscall instruction: if a signal
 * of the program had come too, its handler would have been entered first, and we would find ourselves there. One that
 * came while our handler ran is pending, and must get its EINTR as well. Where the kernel is about to make the call
 * again, because our handler wants that, such a signal must still end it: the call gets the result that it would have
 * had without us.
 */
static COLD void note_interruption(ucontext_t *context)
{
    greg_t *reg = context->uc_mcontext.gregs;
    const uint8_t *code = (const uint8_t *)reg[REG_RIP];
    uint64_t place = (uint64_t)code & 4095;

    if (raw_frozen || place < 2 || place > 4094)
        return;
    if (reg[REG_RAX] == -EINTR && code[-2] == 0x0f && code[-1] == 0x05) {
        self.interrupted = !waiting(context);
    } else if (is_restarted(reg[REG_RAX]) && code[0] == 0x0f && code[1] == 0x05 && interrupts(waiting(context))) {
        reg[REG_RAX] = -EINTR;
        reg[REG_RIP] += 2;
    }
}

HOT void signal_note_interruption(ucontext_t *context)
{
    if (wall_clock)
        note_interruption(context);
}

void interruption_clear(void)
{
    self.interrupted = false;
}

bool interrupted_by_us(void)
{
    bool was = self.interrupted;

    self.interrupted = false;
    return was && errno == EINTR;
}

/* A copy of the set without our signals. */
const sigset_t *signal_without_ours(const sigset_t *set, sigset_t *copy)
{
    uint64_t bits;

    if (!set || !ours)
        return set;
    *copy = *set;
    memcpy(&bits, copy, sizeof bits);
    bits &= ~ours;
    memcpy(copy, &bits, sizeof bits);
    return copy;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t copy;

    return REAL(sigprocmask)(how, how == SIG_UNBLOCK ? set : signal_without_ours(set, &copy), old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t copy;

    return REAL(pthread_sigmask)(how, how == SIG_UNBLOCK ? set : signal_without_ours(set, &copy), old);
}

static int shadow_action(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction before = shadow[number];

    if (action)
        shadow[number] = *action;
    if (old)
        *old = before;
    return 0;
}

static __thread int *adopting __attribute__((tls_model("initial-exec")));

void signal_adopt(int *number)
{
    adopting = number;
}

EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction copy;

    if (adopting) {
        /* A library that works for the collector takes a signal. */
        if (action && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
            *adopting = number;
            ours |= bit(number);
            copy = *action;
            copy.sa_flags |= SA_ONSTACK;
            action = &copy;
        }
        return REAL(sigaction)(number, action, old);
    }
    if (is_ours(number))
        return shadow_action(number, action, old);
    if (action && ours) {
        copy = *action;
        signal_without_ours(&action->sa_mask, &copy.sa_mask);
        action = &copy;
    }
    return REAL(sigaction)(number, action, old);
}

static sighandler_t shadow_handler(int number, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler}, old;

    shadow_action(number, &action, &old);
    return old.sa_handler;
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    return is_ours(number) ? shadow_handler(number, handler) : REAL(signal)(number, handler);
}

EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return is_ours(number) ? shadow_handler(number, handler) : REAL(sysv_signal)(number, handler);
}

EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return sysv_signal(number, handler);
}

EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    sigset_t copy;

    return REAL(signalfd)(fd, signal_without_ours(set, &copy), flags);
}

/* Waiting for a set: ours are taken out of it; being interrupted by them is not the program's concern. */
EXPORT int sigwait(const sigset_t *set, int *number)
{
    sigset_t copy;

    return REAL(sigwait)(signal_without_ours(set, &copy), number); /* goes on after EINTR by itself */
}

EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return sigtimedwait(set, info, NULL);
}
