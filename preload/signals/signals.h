/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeping the collector's signals out of the program's hands.
 *
 * The timers' signal, and that of counters, is number 33, which the C library has reserved for itself and keeps out of
 * every mask and every handler that a program can set: by it a thread that calls setuid tells the others (SIGSETXID).
 * The two are told apart by who has sent them. So no signal that a program can use is taken from it.
 *
 * A signal of another number that is ours is never blocked, waited for, or given another handler by the program: it
 * sees a signal number that does nothing. What it sets up for that number is remembered, and signals that are not ours
 * are handed to it.
 */
#ifndef HQ_PRELOAD_SIGNALS_SIGNALS_H
#define HQ_PRELOAD_SIGNALS_SIGNALS_H

#include "preload/kernel.h"
#include "preload/raw.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { SIGNAL_RESERVED = 33 };

/* False where a filter of system calls forbids handlers: a signal of ours would end the program. */
bool signal_may_be_handled(void);

/* Takes a signal number for the collector; call it before threads exist. */
void signal_take(int number, void (*handler)(int, siginfo_t *, void *));

/* All are taken: handlers that constructors have set up before get their entries. Likewise before threads exist. */
void signal_start(void);

/* The C library sets up its own handler of the reserved signal when it makes the first thread: after each call that may
 * have made one, ours takes its place again. And the handler of SIGBUS that Go has set up without the C library gets an
 * entry. */
void signal_retake(void);

/* In a forked child, which may have been given no handlers. */
void signal_after_fork(void);

/* Around what hands on to another program that this one ignores SIGTRAP. */
void signal_before_exec(void);
void signal_after_exec(void);

/* One of ours can end a system call early (waits/interruption.h). Likewise before threads exist. */
void signal_interrupts(void);

/*
 * Between signal_adopt(true) and signal_adopt(false) the signal that a library takes in this thread, by sigaction, and
 * has descriptors send, by fcntl, is the reserved one, whatever its number. (PAPI chooses its own.)
 */
void signal_adopt(bool on);

/* Unblocks them in this thread, whatever mask it inherited. */
void signal_unblock(void);

/* NULL if there is none, or none that can be read: that is the kernel's to refuse. */
const sigset_t *signal_if_given(const sigset_t *set);

/* The set without our signals, in `copy` if that makes a difference; with SIGTRAP where this thread blocks it really
 * (blocked.h). */
const sigset_t *signal_without_ours(const sigset_t *set, sigset_t *copy);

/* sigismember and its like of a set of 64 signals: a program may have functions of these names. */
static inline bool signal_in(const sigset_t *set, int number)
{
    uint64_t bits;

    memcpy(&bits, set, sizeof bits);
    return bits >> (number - 1) & 1;
}

static inline void signal_put(sigset_t *set, int number, bool in)
{
    uint64_t bits, bit = (uint64_t)1 << (number - 1);

    memcpy(&bits, set, sizeof bits);
    bits = in ? bits | bit : bits & ~bit;
    memcpy(set, &bits, sizeof bits);
}

/* Did an instruction raise this SIGTRAP, so that it can be neither blocked nor ignored? A perf event of the program's
 * does not. */
static inline bool signal_is_raised(const siginfo_t *info)
{
    return info->si_code > 0 && info->si_code != KERNEL_TRAP_PERF;
}

/* As it was sent: to the thread alone, or to whichever of the process does not block it. Only the first thread may say
 * that it was by kill; other threads say that it was queued by who sent it. */
static inline __attribute__((always_inline)) void signal_send_again(int number, const siginfo_t *info)
{
    siginfo_t queued = *info;

    queued.si_code = SI_QUEUE;
    if (info->si_code == SI_TKILL || info->si_code > 0)
        raw_syscall(SYS_rt_tgsigqueueinfo, raw_getpid(), raw_gettid(), number, (long)info, 0, 0);
    else if (raw_syscall(SYS_rt_sigqueueinfo, raw_getpid(), number, (long)info, 0, 0, 0) < 0)
        raw_syscall(SYS_rt_sigqueueinfo, raw_getpid(), number, (long)&queued, 0, 0, 0);
}

/* Around a call that waits with another mask, NULL: it does not. */
bool signal_wait_begins(const sigset_t *mask);
void signal_wait_ends(bool before, const sigset_t *mask);

/*
 * rt_sigaction and rt_sigprocmask that the program makes by syscall(2), with these arguments: what concerns our signals
 * is done as the C library's functions do it. errno and the result are those of syscall(2). False: nothing was done,
 * the kernel is to be asked. A forked child that puts all signals back to their defaults by such calls (Chromium's)
 * would else be ended by the next tick.
 */
bool signal_bare_action(const long a[6], long *result); /* signals.c */
bool signal_bare_mask(const long a[6], long *result);   /* masks.c */

/* A signal with one of our numbers that we did not send. In a signal handler. */
void signal_foreign(int number, siginfo_t *info, void *context);

/* Our signals: bit n - 1 is signal n. */
uint64_t signal_ours(void);

/* Is it one of ours that the program may use too? The reserved one the C library refuses to it. */
bool signal_is_shared(int number);

/* Has the program no handler for one of our numbers, so that the kernel would end it? `raised`: by an instruction,
 * which cannot be ignored. Safe in a signal handler. */
bool signal_is_left_to_kernel(int number, bool raised);

#endif
