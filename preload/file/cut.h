/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A measurement file that somebody makes shorter while it is written, or whose file system fails (a server of files on
 * which it was removed, a disk), has pages that cannot be stored into: the kernel sends SIGBUS, which would end the
 * program. So where the program has no handler for SIGBUS the kernel has one of ours, and the program's own is entered
 * through an entry (signals/entry.h) that looks first. The page is replaced by memory, and measuring ends with a
 * sentence.
 *
 * A fault while SIGBUS is blocked ends the program without asking anybody. So our handlers do not block it, and unblock
 * it where the program does (cut_guard). So do our wrappers, in a thread that blocks it by the C library's functions.
 */
#ifndef HQ_PRELOAD_FILE_CUT_H
#define HQ_PRELOAD_FILE_CUT_H

#include "preload/raw.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

enum { CUT_BIT = 1 << (SIGBUS - 1) };

/* The handler that the kernel has where the program has none. */
void cut_on_bus(int number, siginfo_t *info, void *context);

/* In a handler of SIGBUS: true if it is not the program's, or not yet: the handler is to return. */
bool cut_takes(const siginfo_t *info, ucontext_t *context);

/* In a handler of ours, which was called with this context: from here on its stores are guarded. */
static inline void cut_guard(const ucontext_t *context)
{
    uint64_t mask, bus = CUT_BIT;

    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    if (mask & bus && !raw_frozen)
        raw_sigmask(SIG_UNBLOCK, &bus, NULL);
}

/* The program has changed the mask of this thread: does it block SIGBUS? */
void cut_note_mask(int how, const sigset_t *set);

/* Around stores outside of handlers: cut_open returns what cut_close needs. */
bool cut_open(void);
void cut_close(bool opened);

#endif
