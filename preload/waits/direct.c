/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/waits/direct.h"

#include "preload/kernel.h"
#include "preload/waits/deadline.h"
#include "preload/waits/interruption.h"
#include "preload/raw.h"
#include "preload/waits/terminal.h"
#include "preload/thread.h"

#include <linux/futex.h>
#include <linux/io_uring.h>
#include <limits.h>
#include <string.h>

/*
 * Which argument is a time limit that begins with the call: a struct timespec, or milliseconds; or one where the kernel
 * itself leaves what is left, a struct timespec or timeval; others end at a point in time. And which is a mask that the
 * call waits with, of `bytes`.
 */
enum limit { OTHER, AS_IT_IS, MILLISECONDS, SPAN, LEFT, LEFT_MICROSECONDS };

struct form {
    enum limit limit;
    int at, mask;
    long bytes;
};

enum { NONE = -1, MASK_BYTES = 8 };
#define PAIRED LONG_MIN

/* pselect6 has its mask in memory. */
struct pair {
    const void *mask;
    size_t bytes;
};

static struct form form_of(long number, const long a[6])
{
    switch (number) {
    case SYS_futex: /* FUTEX_WAIT alone is told how long, the others until when */
        return (struct form){((int)a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT ? SPAN : AS_IT_IS, 3, NONE, 0};
    case SYS_io_getevents: return (struct form){SPAN, 4, NONE, 0};
    case SYS_io_pgetevents: return (struct form){a[5] ? OTHER : SPAN, 4, NONE, 0};
    case SYS_io_uring_enter: /* when it gives the kernel nothing, and has no time limit */
        return (struct form){a[1] || a[3] & IORING_ENTER_EXT_ARG || a[4] ? OTHER : AS_IT_IS, 0, NONE, 0};
    case SYS_semtimedop: return (struct form){SPAN, 3, NONE, 0};
    case SYS_rt_sigtimedwait: return (struct form){SPAN, 2, NONE, 0};
    case SYS_epoll_pwait: return (struct form){MILLISECONDS, 3, 4, a[5]};
    case SYS_epoll_pwait2: return (struct form){SPAN, 3, 4, a[5]};
    case SYS_rt_sigsuspend: return (struct form){AS_IT_IS, 0, 0, a[1]};
    case SYS_ppoll: return (struct form){LEFT, 2, 3, a[4]};
    case SYS_pselect6: return (struct form){LEFT, 4, 5, PAIRED};
#ifdef SYS_poll
    case SYS_poll: return (struct form){MILLISECONDS, 2, NONE, 0};
    case SYS_epoll_wait: return (struct form){MILLISECONDS, 3, NONE, 0};
    case SYS_select: return (struct form){LEFT_MICROSECONDS, 4, NONE, 0};
    case SYS_pause:
#endif
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_semop: return (struct form){AS_IT_IS, 0, NONE, 0};
    case SYS_ioctl: return (struct form){terminal_waits((unsigned long)a[1]) ? AS_IT_IS : OTHER, 0, NONE, 0};
    default: return (struct form){OTHER, 0, NONE, 0};
    }
}

/* Is there what the kernel left of a time limit? It leaves nothing in memory that cannot be written. */
static bool is_left_in(const void *limit)
{
    uint64_t kept, now;
    bool is;

    memcpy(&kept, limit, sizeof kept);
    is = raw_writable((uint64_t)limit);
    memcpy(&now, limit, sizeof now);
    if (now != kept)
        memcpy((void *)limit, &kept, sizeof kept);
    return is;
}

/* Lets the argument be what is left of its time. It is read now that the kernel has: before, it may be any address. */
static void shorten(enum limit limit, long *argument, int64_t since, struct timespec *rest)
{
    if (limit == MILLISECONDS && (int)*argument > 0) {
        int64_t left = (int64_t)(int)*argument * 1000000 - (deadline_now() - since);
        *argument = left > 0 ? (left + 999999) / 1000000 : 0;
    }
    if (limit < SPAN || !*argument || (limit >= LEFT && is_left_in((const void *)*argument)))
        return;
    long two[2], unit = limit == LEFT_MICROSECONDS ? 1000 : 1; /* a struct timeval has two words like struct timespec */

    memcpy(two, (const void *)*argument, sizeof two);
    *rest = deadline_rest(&(struct timespec){two[0], two[1] * unit}, since);
    rest->tv_nsec /= unit;
    *argument = (long)rest;
}

/* The mask, as the C library's functions have it; NULL: none, or the kernel will not take it. */
static const sigset_t *mask_of(const struct form *form, const long a[6], sigset_t *copy)
{
    const void *mask = form->mask == NONE ? NULL : (const void *)a[form->mask];
    long bytes = form->bytes;

    if (mask && bytes == PAIRED) {
        const struct pair *pair = mask;
        if (!raw_given(&pair->mask) || !raw_given(&pair->bytes))
            return NULL;
        mask = pair->mask;
        bytes = (long)pair->bytes;
    }
    if (bytes != MASK_BYTES || !signal_if_given(mask))
        return NULL;
    memset(copy, 0, sizeof *copy);
    memcpy(copy, mask, MASK_BYTES);
    return copy;
}

/* The arguments of the next attempt. */
struct attempt {
    int64_t since;
    bool again;
    struct timespec rest;
    struct pair pair;
    long now[6];
};

static const long *arguments(const struct form *form, const long a[6], const sigset_t *mask, struct attempt *attempt)
{
    long *now = attempt->now;

    memcpy(now, a, sizeof attempt->now);
    if (attempt->again)
        shorten(form->limit, &now[form->at], attempt->since, &attempt->rest);
    attempt->again = true;
    attempt->pair = (struct pair){mask, MASK_BYTES};
    if (mask)
        now[form->mask] = form->bytes == PAIRED ? (long)&attempt->pair : (long)mask;
    return now;
}

static long wait_by(long number, const struct form *form, const long a[6], direct_next *next)
{
    struct attempt attempt = {.since = deadline_now()};
    sigset_t copy;
    const sigset_t *mask = mask_of(form, a, &copy);

    return mask ? AGAIN_WHILE_OURS_MASKED(mask, next(number, arguments(form, a, mask, &attempt)))
                : AGAIN_WHILE_OURS(next(number, arguments(form, a, NULL, &attempt)));
}

long direct_call(long number, const long a[6], direct_next *next)
{
    struct form form;

    if (self.clockless)
        return next(number, a);
    if (number == SYS_nanosleep || number == SYS_clock_nanosleep)
        return direct_sleep(number, a, next);
    form = form_of(number, a);
    if (form.limit != OTHER && (interruption_possible || form.mask != NONE))
        return wait_by(number, &form, a, next);
    return number == SYS_futex ? WAITING(next(number, a)) : direct_move(number, a, next);
}
