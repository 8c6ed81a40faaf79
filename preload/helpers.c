/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the C library that make threads of its own: these are not measured, but the first thread of a process
 * makes the C library set up its handler of the signal that is ours too (signals.h).
 */
#include "preload/export.h"
#include "preload/signals.h"

#include <aio.h>
#include <mqueue.h>
#include <netdb.h>
#include <time.h>

#define RETAKING(call) \
    do { \
        __typeof__(call) result_ = call; \
        signal_retake(); \
        return result_; \
    } while (0)

EXPORT int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer)
{
    RETAKING(REAL(timer_create)(clock, event, timer));
}

EXPORT int mq_notify(mqd_t queue, const struct sigevent *event)
{
    RETAKING(REAL(mq_notify)(queue, event));
}

EXPORT int getaddrinfo_a(int mode, struct gaicb *list[restrict], int count, struct sigevent *restrict event)
{
    RETAKING(REAL(getaddrinfo_a)(mode, list, count, event));
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
