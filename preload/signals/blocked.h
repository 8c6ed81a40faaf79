/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGTRAP while the program blocks it. The software clock and breakpoints need it, so the kernel is not told: what the
 * program has blocked is noted for each thread, it reads what it has set, and hands it on by exec. As long as nobody
 * sends that signal nothing else is to be done. When somebody does, the thread changes from the software clock to a
 * timer, blocks the signal for good, and has it sent once more: so it waits, for the thread or the process, and is
 * delivered, or fetched by sigwait or signalfd, as it would be without the collector. Where there are breakpoints,
 * which end a thread that has blocked it, it is kept here until the thread unblocks it, or a call does that waits.
 */
#ifndef HQ_PRELOAD_SIGNALS_BLOCKED_H
#define HQ_PRELOAD_SIGNALS_BLOCKED_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Does the calling thread of the program block it? Safe in signal handlers. */
bool blocked_is(void);

/* Is that so for the kernel too? */
bool blocked_really(void);

/* It shall be from now on, or not; or while a call waits whose mask the kernel is told. */
void blocked_set(bool blocks);
void blocked_for_call(bool blocks);

/* The calling thread begins, with what it has got from the one that made it, and is unblocked in the kernel. */
void blocked_begin(bool blocks);

/* In the handler of a signal that somebody has sent: true if it waits now, since the program blocks it. */
bool blocked_waits(const siginfo_t *info, ucontext_t *context);

/* A seccomp filter forbids to send signals again: they are kept. */
void blocked_freeze(void);

/* Around what hands on to another program whether the signal is blocked, or ignored. */
void blocked_before_exec(void);
void blocked_after_exec(void);

#endif
