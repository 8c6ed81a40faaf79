/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/signals.h"

#include "preload/export.h"
#include "preload/options.h"
#include "preload/raw.h"
#include "preload/thread.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/signalfd.h>

static uint64_t ours;                   /* bit n - 1: signal n */
static bool wall_clock;
static struct sigaction shadow[65];     /* what the program asked for with our numbers */

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
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };

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

/*
 * The kernel has set the result of a call to EINTR and is about to return behind the syscall instruction: if a signal of the
 * program had come too, its handler would have been entered first, and we would find ourselves there. One that came while our
 * handler ran is pending, and must get its EINTR as well.
 */
void signal_note_interruption(const ucontext_t *context)
{
    const uint8_t *code = (const uint8_t *)context->uc_mcontext.gregs[REG_RIP];
    uint64_t pending = 0, blocked;

    if (!wall_clock || raw_frozen || context->uc_mcontext.gregs[REG_RAX] != -EINTR || ((uint64_t)code & 4095) < 2 || code[-2] != 0x0f || code[-1] != 0x05)
        return;
    memcpy(&blocked, &context->uc_sigmask, sizeof blocked);
    raw_syscall(SYS_rt_sigpending, (long)&pending, 8, 0, 0, 0, 0);
    self.interrupted = !(pending & ~blocked & ~ours);
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
    struct sigaction action = { .sa_handler = handler }, old;

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

    return REAL(sigwait)(signal_without_ours(set, &copy), number);     /* goes on after EINTR by itself */
}

EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return sigtimedwait(set, info, NULL);
}
