/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the C library that make threads of its own. Of these those are measured that it makes for a routine of
 * the program's (SIGEV_THREAD), from there on; but not where what names the routine is the program's memory (aio). The
 * first thread of a process makes the C library set up its handler of the signal that is ours too (signals/signals.h).
 */
#include "preload/export.h"
#include "preload/signals/signals.h"
#include "preload/thread.h"

#include <aio.h>
#include <mqueue.h>
#include <netdb.h>
#include <stdlib.h>
#include <time.h>

/* One that such a thread runs. Nobody knows when the last one of a timer begins, so these are kept, one for all that
 * are the same; routines that find no room are not measured. */
struct routine {
    struct routine *next;
    void (*function)(union sigval);
    union sigval value;
    struct origin origin;
};

enum { LISTS = 256, ROUTINES = 4096 };

static struct routine *_Atomic lists[LISTS];
static _Atomic int routines;

static bool is_same(const struct routine *a, const struct routine *b)
{
    return a->function == b->function && a->value.sival_ptr == b->value.sival_ptr && a->origin.lane == b->origin.lane &&
           a->origin.node == b->origin.node;
}

static struct routine *keep(const struct routine *wanted)
{
    uint64_t hash = ((uint64_t)wanted->function ^ (uint64_t)wanted->value.sival_ptr ^ wanted->origin.node) *
                    0x9e3779b97f4a7c15;
    struct routine *_Atomic *list = &lists[hash >> 56];
    struct routine *first = atomic_load(list), *added;

    for (struct routine *known = first; known; known = known->next)
        if (is_same(known, wanted))
            return known;
    if (atomic_load(&routines) >= ROUTINES || !(added = malloc(sizeof *added)))
        return NULL;
    atomic_fetch_add(&routines, 1);
    *added = *wanted;
    added->next = first;
    while (!atomic_compare_exchange_weak(list, &added->next, added))
        ;
    return added;
}

static void run(union sigval value)
{
    const struct routine *routine = value.sival_ptr;

    thread_begin(&routine->origin);
    routine->function(routine->value);
}

/* The event, or `copy`, whose thread is measured. */
static struct sigevent *measured(const struct sigevent *event, struct sigevent *copy)
{
    struct origin origin;
    struct place here;

    if (!event || event->sigev_notify != SIGEV_THREAD || !thread_creates(&origin, &here))
        return (struct sigevent *)event;
    struct routine *routine = keep(
        &(struct routine){.function = event->sigev_notify_function, .value = event->sigev_value, .origin = origin});
    guard_leave_at(here);
    if (!routine)
        return (struct sigevent *)event;
    *copy = *event;
    copy->sigev_notify_function = run;
    copy->sigev_value.sival_ptr = routine;
    return copy;
}

#define RETAKING(call) \
    do { \
        __typeof__(call) result_ = call; \
        signal_retake(); \
        return result_; \
    } while (0)

EXPORT int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer)
{
    struct sigevent copy;

    RETAKING(REAL(timer_create)(clock, measured(event, &copy), timer));
}

EXPORT int mq_notify(mqd_t queue, const struct sigevent *event)
{
    struct sigevent copy;

    RETAKING(REAL(mq_notify)(queue, measured(event, &copy)));
}

EXPORT int getaddrinfo_a(int mode, struct gaicb *list[restrict], int count, struct sigevent *restrict event)
{
    struct sigevent copy;

    RETAKING(REAL(getaddrinfo_a)(mode, list, count, measured(event, &copy)));
}

EXPORT int aio_read(struct aiocb *block)
{
    RETAKING(REAL(aio_read)(block));
}

EXPORT int aio_write(struct aiocb *block)
{
    RETAKING(REAL(aio_write)(block));
}

EXPORT int aio_fsync(int operation, struct aiocb *block)
{
    RETAKING(REAL(aio_fsync)(operation, block));
}

EXPORT int lio_listio(int mode, struct aiocb *const list[restrict], int count, struct sigevent *restrict event)
{
    RETAKING(REAL(lio_listio)(mode, list, count, event));
}

/* Files are large here anyway. */
EXPORT int aio_read64(struct aiocb64 *block) __attribute__((alias("aio_read")));
EXPORT int aio_write64(struct aiocb64 *block) __attribute__((alias("aio_write")));
EXPORT int aio_fsync64(int operation, struct aiocb64 *block) __attribute__((alias("aio_fsync")));
EXPORT int lio_listio64(int mode, struct aiocb64 *const list[restrict], int count, struct sigevent *restrict event)
    __attribute__((alias("lio_listio")));
