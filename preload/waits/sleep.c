/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that wait for time or for a signal, and end with EINTR when a handler has run: with sampling by elapsed time
 * they go on for the time that is left. Under CPUTIME nothing interrupts them, and the wrappers only pass through.
 */
#include "preload/waits/deadline.h"
#include "preload/waits/direct.h"
#include "preload/export.h"
#include "preload/waits/interruption.h"
#include "preload/raw.h"
#include "preload/signals/signals.h"

#include <errno.h>
#include <semaphore.h>
#include <threads.h>
#include <unistd.h>

/* Tells the time that was left when a signal of the program ended it. Returns the error: EINTR, or that this cannot be
 * written. */
static int give_rest(struct timespec *rest, const struct timespec *left)
{
    if (!rest)
        return EINTR;
    if (!raw_writable((uint64_t)&rest->tv_sec) || !raw_writable((uint64_t)&rest->tv_nsec))
        return EFAULT;
    *rest = *left;
    return EINTR;
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *rest)
{
    struct timespec left;
    const struct timespec *now = request;
    bool until = flags & TIMER_ABSTIME;
    uint32_t before = interruption_begin();
    int error;

    for (;; now = until ? request : &left) {
        error = REAL(clock_nanosleep)(clock, flags, now, until ? NULL : &left);
        errno = error == EINTR ? EINTR : errno;
        if (error != EINTR || !interrupted_by_us(before))
            break;
    }
    interruption_end();
    return error == EINTR && !until ? give_rest(rest, &left) : error;
}

/* `call` sleeps for `now`, and puts what is left into `left`. */
#define SLEEPING(request, rest, call) \
    ({ \
        struct timespec left; \
        const struct timespec *now = request; \
        int by_now_ = AGAIN_WHILE_OURS(({ \
            int slept_ = (int)(call); \
            now = &left; \
            slept_; \
        })); \
        if (by_now_ < 0 && errno == EINTR) \
            errno = give_rest(rest, &left); \
        by_now_; \
    })

EXPORT int nanosleep(const struct timespec *request, struct timespec *rest)
{
    return SLEEPING(request, rest, REAL(nanosleep)(now, &left));
}

long direct_sleep(long number, const long a[6], direct_next *next)
{
    int first = number == SYS_nanosleep ? 0 : 2;
    const struct timespec *request = (const struct timespec *)a[first];
    struct timespec *rest = (struct timespec *)a[first + 1];

    if (first && a[1] & TIMER_ABSTIME)
        return AGAIN_WHILE_OURS(next(number, a));
    return SLEEPING(request, rest,
                    first ? next(number, (const long[6]){a[0], a[1], (long)now, (long)&left})
                          : next(number, (const long[6]){(long)now, (long)&left}));
}

EXPORT int thrd_sleep(const struct timespec *request, struct timespec *rest)
{
    int error = clock_nanosleep(CLOCK_REALTIME, 0, request, rest);

    return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

EXPORT int usleep(useconds_t microseconds)
{
    struct timespec request = {microseconds / 1000000, (long)(microseconds % 1000000) * 1000};

    return nanosleep(&request, NULL);
}

/* Returns the seconds that were not slept, rounded to the nearest as glibc does. */
EXPORT unsigned sleep(unsigned seconds)
{
    struct timespec request = {(time_t)seconds, 0};
    int before = errno;

    if (nanosleep(&request, &request) < 0)
        return (unsigned)request.tv_sec + (request.tv_nsec >= 500000000);
    errno = before;
    return 0;
}

EXPORT int pause(void)
{
    return AGAIN_WHILE_OURS(REAL(pause)());
}

EXPORT int sigsuspend(const sigset_t *mask)
{
    return AGAIN_WHILE_OURS_MASKED(mask, REAL(sigsuspend)(mask));
}

/* The oldest forms of sigsuspend: a mask of 31 signals, and a signal that is taken out of the present mask. Headers
 * give the name of the one to the other. */
int suspend_with(int signals) __asm__("sigpause");
EXPORT int suspend_with(int signals)
{
    sigset_t mask = {{0}};

    for (int number = 1; number < 32; number++)
        if ((unsigned)signals >> (number - 1) & 1)
            signal_put(&mask, number, true);
    return sigsuspend(&mask);
}

int suspend_without(int number) __asm__("__xpg_sigpause");
EXPORT int suspend_without(int number)
{
    sigset_t mask;

    if (number < 1 || number > 64) {
        errno = EINVAL;
        return -1;
    }
    if (sigprocmask(SIG_BLOCK, NULL, &mask) < 0)
        return -1;
    signal_put(&mask, number, false);
    return sigsuspend(&mask);
}

EXPORT int __sigpause(int what, int is_signal);
EXPORT int __sigpause(int what, int is_signal)
{
    return is_signal ? suspend_without(what) : suspend_with(what);
}

EXPORT int sem_wait(sem_t *semaphore)
{
    return AGAIN_WHILE_OURS(REAL(sem_wait)(semaphore));
}

/* The limit is a point in time: the call is simply made again. */
EXPORT int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict limit)
{
    return AGAIN_WHILE_OURS(REAL(sem_timedwait)(semaphore, limit));
}

EXPORT int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict limit)
{
    return AGAIN_WHILE_OURS(REAL(sem_clockwait)(semaphore, clock, limit));
}
