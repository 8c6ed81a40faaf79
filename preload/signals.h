/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeping the collector's signals out of the program's hands, and the program's system calls out of the collector's.
 *
 * A signal of ours is never blocked, waited for, or given another handler by the program: it sees a signal number that
 * does nothing. What it sets up for that number is remembered, and signals that are not ours are handed to it.
 */
#ifndef HQ_PRELOAD_SIGNALS_H
#define HQ_PRELOAD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

/* Takes a signal number for the collector; call it before threads exist. `interrupts`: it can end a system call early.
 */
void signal_take(int number, void (*handler)(int, siginfo_t *, void *), bool interrupts);

/*
 * Between signal_adopt(&number) and signal_adopt(NULL) a signal that a library takes in this thread, by sigaction, is
 * one of ours from then on; its number is stored. (PAPI chooses its own.)
 */
void signal_adopt(int *number);

/* Unblocks them in this thread, whatever mask it inherited. */
void signal_unblock(void);

/* The set without our signals, in `copy` if that makes a difference. */
const sigset_t *signal_without_ours(const sigset_t *set, sigset_t *copy);

/* A signal with one of our numbers that we did not send. In a signal handler. */
void signal_foreign(int number, siginfo_t *info, void *context);

/*
 * At the end of our handler: if it alone has ended a system call early, notes that for the wrapper of that call. If the
 * program's own signal has come meanwhile and should end the call, sees to that.
 */
void signal_note_interruption(ucontext_t *context);

/*
 * In a wrapper of a call that fails with EINTR whatever SA_RESTART says: its result, after making it again as long as
 * our signal alone has ended it. The call is evaluated each time.
 */
#define AGAIN_WHILE_OURS(call) \
    ({ \
        __typeof__(call) result_; \
        do { \
            interruption_clear(); \
            result_ = (call); \
        } while (result_ < 0 && interrupted_by_us()); \
        result_; \
    })

/* False at once if no event samples by elapsed time. errno must be that of the call, before which stands
 * interruption_clear(). */
bool interrupted_by_us(void);
void interruption_clear(void);

#endif
