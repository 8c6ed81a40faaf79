/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets with a time limit (SO_RCVTIMEO, SO_SNDTIMEO) and System V queues and semaphores: SA_RESTART does not cover
 * them. A call that only our signal has ended is made again; on a socket until its limit has passed, when it fails with
 * EAGAIN as it would have.
 */
#include "preload/deadline.h"
#include "preload/export.h"
#include "preload/signals.h"

#include <aio.h>
#include <errno.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Should the call be made again? `since` is when it was made first. Without a time limit the kernel has done that
 * already. */
static bool again(int fd, int option, int64_t since)
{
    struct timeval limit = {0, 0};
    socklen_t length = sizeof limit;

    if (!interrupted_by_us())
        return false;
    bool limited = getsockopt(fd, SOL_SOCKET, option, &limit, &length) == 0 && (limit.tv_sec || limit.tv_usec);
    bool passed = limited && deadline_now() - since >= (int64_t)limit.tv_sec * 1000000000 + limit.tv_usec * 1000;
    errno = passed ? EAGAIN : EINTR;
    return limited && !passed;
}

#define UNTIL_DONE(option, call) \
    do { \
        int64_t since_ = 0; \
        __typeof__(call) result_; \
        for (;;) { \
            interruption_clear(); \
            result_ = call; \
            if (result_ >= 0 || errno != EINTR) \
                return result_; \
            if (!since_) \
                since_ = deadline_now(); \
            if (!again(fd, option, since_)) \
                return result_; \
        } \
    } while (0)

EXPORT ssize_t read(int fd, void *buffer, size_t bytes)
{
    UNTIL_DONE(SO_RCVTIMEO, REAL(read)(fd, buffer, bytes));
}

EXPORT ssize_t readv(int fd, const struct iovec *parts, int count)
{
    UNTIL_DONE(SO_RCVTIMEO, REAL(readv)(fd, parts, count));
}

EXPORT ssize_t recv(int fd, void *buffer, size_t bytes, int flags)
{
    UNTIL_DONE(SO_RCVTIMEO, REAL(recv)(fd, buffer, bytes, flags));
}

EXPORT ssize_t recvfrom(int fd, void *restrict buffer, size_t bytes, int flags, struct sockaddr *restrict from,
                        socklen_t *restrict length)
{
    UNTIL_DONE(SO_RCVTIMEO, REAL(recvfrom)(fd, buffer, bytes, flags, from, length));
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    UNTIL_DONE(SO_RCVTIMEO, REAL(recvmsg)(fd, message, flags));
}

EXPORT int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict length)
{
    UNTIL_DONE(SO_RCVTIMEO, REAL(accept)(fd, address, length));
}

EXPORT int accept4(int fd, struct sockaddr *restrict address, socklen_t *restrict length, int flags)
{
    UNTIL_DONE(SO_RCVTIMEO, REAL(accept4)(fd, address, length, flags));
}

EXPORT ssize_t write(int fd, const void *buffer, size_t bytes)
{
    UNTIL_DONE(SO_SNDTIMEO, REAL(write)(fd, buffer, bytes));
}

EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
    UNTIL_DONE(SO_SNDTIMEO, REAL(writev)(fd, parts, count));
}

EXPORT ssize_t send(int fd, const void *buffer, size_t bytes, int flags)
{
    UNTIL_DONE(SO_SNDTIMEO, REAL(send)(fd, buffer, bytes, flags));
}

EXPORT ssize_t sendto(int fd, const void *buffer, size_t bytes, int flags, const struct sockaddr *to, socklen_t length)
{
    UNTIL_DONE(SO_SNDTIMEO, REAL(sendto)(fd, buffer, bytes, flags, to, length));
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    UNTIL_DONE(SO_SNDTIMEO, REAL(sendmsg)(fd, message, flags));
}

EXPORT ssize_t msgrcv(int queue, void *message, size_t bytes, long type, int flags)
{
    return AGAIN_WHILE_OURS(REAL(msgrcv)(queue, message, bytes, type, flags));
}

EXPORT int msgsnd(int queue, const void *message, size_t bytes, int flags)
{
    return AGAIN_WHILE_OURS(REAL(msgsnd)(queue, message, bytes, flags));
}

EXPORT int semop(int set, struct sembuf *operations, size_t count)
{
    return AGAIN_WHILE_OURS(REAL(semop)(set, operations, count));
}

EXPORT int semtimedop(int set, struct sembuf *operations, size_t count, const struct timespec *timeout)
{
    struct timeout limit = timeout_of(timeout);

    return AGAIN_WHILE_OURS(REAL(semtimedop)(set, operations, count, timeout_left(&limit)));
}

EXPORT int aio_suspend(const struct aiocb *const list[], int count, const struct timespec *timeout)
{
    struct timeout limit = timeout_of(timeout);

    return AGAIN_WHILE_OURS(REAL(aio_suspend)(list, count, timeout_left(&limit)));
}
