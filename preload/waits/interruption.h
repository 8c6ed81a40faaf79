/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeping the program's system calls out of the collector's hands: a call that a signal of ours has ended early is made
 * again, and one that a signal of the program should end is ended, in whatever order the two come.
 */
#ifndef HQ_PRELOAD_WAITS_INTERRUPTION_H
#define HQ_PRELOAD_WAITS_INTERRUPTION_H

#include "preload/signals/signals.h"

#include <ucontext.h>

/* One of our signals can end a system call early. Set before threads exist; otherwise nothing here does anything. */
extern bool interruption_possible;

/*
 * At the end of our handler: if it alone has ended a system call early, notes that for the wrapper of that call. If the
 * program's own signal has come meanwhile and should end the call, sees to that.
 */
void interruption_note(ucontext_t *context);

/* A system call that the kernel is about to make again, because a handler of ours wants that, fails with EINTR instead,
 * as a handler of the program wants that was entered at the same place. */
void interruption_end_repetition(ucontext_t *context);

/*
 * In a wrapper of a call that fails with EINTR whatever SA_RESTART says: its result, after making it again as long as
 * our signal alone has ended it. The call is evaluated each time. The kernel may deliver both kinds in any order, and
 * the program's between two attempts: so what counts is whether a handler of the program was entered since the first
 * attempt began. If that was between two attempts our next signal ends the second.
 */
#define AGAIN_WHILE_OURS(call) AGAIN_WHILE(call, interrupted_by_us)
#define AGAIN_WHILE(call, failed) \
    ({ \
        __typeof__(call) result_; \
        uint32_t before_ = interruption_begin(); \
        do \
            result_ = (call); \
        while (result_ < 0 && failed(before_)); \
        interruption_end(); \
        result_; \
    })

/* Like AGAIN_WHILE_OURS, for a call that waits with another signal mask, NULL: it does not. In `call` its name is
 * `mask`. */
#define AGAIN_WHILE_OURS_MASKED(mask, call) \
    ({ \
        sigset_t copy_; \
        const sigset_t *asked_ = signal_if_given(mask); \
        bool blocks_ = signal_wait_begins(asked_); \
        if (asked_) \
            mask = signal_without_ours(mask, &copy_); \
        interruption_mask(asked_ ? mask : NULL); \
        __typeof__(call) masked_result_ = AGAIN_WHILE(call, interrupted_before_due); \
        interruption_unmask(); \
        signal_wait_ends(blocks_, asked_); \
        masked_result_; \
    })

/* A call begins, and it has failed: errno is its own, `before` what the first has returned. */
uint32_t interruption_begin(void);
bool interrupted_by_us(uint32_t before);
/* Of one that waits with another mask: or does a signal with a handler still wait that should end it? One of ours that
 * came at the same time returns to where the program blocks it, and so does the clock's SIGTRAP to where one that was
 * kept is blocked (signals/blocked.h). */
bool interrupted_before_due(uint32_t before);

/* It has moved a part, and is made once more for the rest (whole.h): meanwhile a handler of the program ends it,
 * SA_RESTART or not. False: one was entered already. */
bool interruption_goes_on(uint32_t before);

/* It is over, and is not made again: if the thread has waited in it, that is counted (idle.h). */
void interruption_end(void);

/* Like AGAIN_WHILE_OURS, for a call that may wait and that the kernel, or the C library, makes again by itself: it is
 * made once. */
#define WAITING(call) \
    ({ \
        interruption_begin(); \
        __typeof__(call) waited_ = (call); \
        interruption_end(); \
        waited_; \
    })

/* Around a call that waits with this mask. */
void interruption_mask(const sigset_t *mask);
void interruption_unmask(void);

#endif
