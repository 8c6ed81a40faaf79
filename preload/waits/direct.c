/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/waits/direct.h"

#include "preload/waits/deadline.h"
#include "preload/waits/interruption.h"
#include "preload/raw.h"
#include "preload/waits/terminal.h"
#include "preload/thread.h"

#include <linux/futex.h>
#include <string.h>

/*
 * Where the arguments have a time limit that begins with the call: it is a struct timespec, or milliseconds, or there
 * is none. Calls with a mask of signals are left alone, and those whose limit the kernel changes: who makes them has to
 * know the kernel.
 */
enum limit { OTHER, ENDLESS, SPAN, MILLISECONDS };

static enum limit limit_of(long number, const long a[6], int *at)
{
    switch (number) {
    case SYS_futex: /* FUTEX_WAIT alone is told how long, the others until when */
        *at = 3;
        return ((int)a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT ? SPAN : ENDLESS;
    case SYS_io_getevents: *at = 4; return SPAN;
    case SYS_io_pgetevents: *at = 4; return a[5] ? OTHER : SPAN;
    case SYS_semtimedop: *at = 3; return SPAN;
    case SYS_rt_sigtimedwait: *at = 2; return SPAN;
    case SYS_epoll_pwait: *at = 3; return a[4] ? OTHER : MILLISECONDS;
#ifdef SYS_poll
    case SYS_poll: *at = 2; return MILLISECONDS;
    case SYS_epoll_wait: *at = 3; return MILLISECONDS;
    case SYS_pause:
#endif
    case SYS_ioctl: return terminal_waits((unsigned long)a[1]) ? ENDLESS : OTHER;
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_semop: return ENDLESS;
    default: return OTHER;
    }
}

/* Lets the argument be what is left of its time. It is read now that the kernel has: before, it may be any address. */
static void shorten(enum limit limit, long *argument, int64_t since, struct timespec *rest)
{
    if (limit == MILLISECONDS && (int)*argument > 0) {
        int64_t left = (int64_t)(int)*argument * 1000000 - (deadline_now() - since);
        *argument = left > 0 ? (left + 999999) / 1000000 : 0;
    } else if (limit == SPAN && *argument) {
        *rest = deadline_rest((const struct timespec *)*argument, since);
        *argument = (long)rest;
    }
}

bool direct_wait(long number, const long a[6], long (*next)(long number, const long a[6]), long *result)
{
    int at = 0, tries = 0;
    enum limit limit = limit_of(number, a, &at);
    struct timespec rest;
    int64_t since;
    long now[6];

    if (limit == OTHER || !interruption_possible || self.clockless)
        return false;
    since = deadline_now();
    *result = AGAIN_WHILE_OURS(({
        memcpy(now, a, sizeof now);
        if (tries++)
            shorten(limit, &now[at], since, &rest);
        next(number, now);
    }));
    return true;
}
