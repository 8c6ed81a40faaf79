/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets with a time limit (SO_RCVTIMEO, SO_SNDTIMEO) and System V queues and semaphores: SA_RESTART does not cover
 * them. A call that only our signal has ended is made again; on a socket until its limit has passed, when it fails with
 * EAGAIN as it would have.
 */
/* It defines some of these functions inline, and clang exports no function that was defined so before. */
#undef _FORTIFY_SOURCE
#include "preload/waits/deadline.h"
#include "preload/waits/direct.h"
#include "preload/export.h"
#include "preload/waits/interruption.h"
#include "preload/raw.h"
#include "preload/thread.h"
#include "preload/waits/whole.h"

#include <aio.h>
#include <errno.h>
#include <poll.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* A thread that must not look at clocks is not interrupted by us either. */
static int64_t now_if_needed(void)
{
    return interruption_possible && !self.clockless ? deadline_now() : 0;
}

/* `rest` is what is left to do when the call is over, with `result_` to be changed; `bare`: syscall(2) makes it. */
#define UNTIL(bare, option, call, rest) \
    do { \
        int64_t since_ = now_if_needed(); \
        __typeof__(call) result_; \
        uint32_t before_ = interruption_begin(); \
        do \
            result_ = call; \
        while (result_ < 0 && errno == EINTR && limit_again(fd, option, since_, before_, bare)); \
        rest; \
        interruption_end(); \
        return result_; \
    } while (0)

#define UNTIL_DONE(bare, option, call) UNTIL(bare, option, call, (void)0)

/* Of one that moves all, if nobody else stops it: the rest. */
#define UNTIL_ALL(bare, kind, first, others) \
    UNTIL(bare, whole_limit(kind), first, if (__builtin_expect(self.call & CALL_CUT, 0)) result_ = others)

/* All bytes: of `parts`, with `flags`. */
#define UNTIL_WHOLE(bare, kind, first, ...) \
    UNTIL_ALL(bare, kind, first, whole_finish(&(struct whole){fd, kind, before_, since_, __VA_ARGS__, bare}, result_))

/* All messages. */
#define UNTIL_LAST(bare, kind, first, timeout) \
    UNTIL_ALL(bare, kind, first, \
              whole_messages(&(struct whole){fd, kind, before_, since_, NULL, 0, flags, bare}, messages, count, \
                             timeout, (int)result_))

#define PART(buffer, bytes) &(struct iovec){(void *)(buffer), bytes}, 1

EXPORT ssize_t read(int fd, void *buffer, size_t bytes)
{
    UNTIL_WHOLE(false, WHOLE_READ, REAL(read)(fd, buffer, bytes), PART(buffer, bytes), 0);
}

EXPORT ssize_t readv(int fd, const struct iovec *parts, int count)
{
    UNTIL_WHOLE(false, WHOLE_READ, REAL(readv)(fd, parts, count), parts, (size_t)count, 0);
}

EXPORT ssize_t recv(int fd, void *buffer, size_t bytes, int flags)
{
    UNTIL_WHOLE(false, WHOLE_RECEIVE, REAL(recv)(fd, buffer, bytes, flags), PART(buffer, bytes), flags);
}

EXPORT ssize_t recvfrom(int fd, void *restrict buffer, size_t bytes, int flags, struct sockaddr *restrict from,
                        socklen_t *restrict length)
{
    UNTIL_WHOLE(false, WHOLE_RECEIVE, REAL(recvfrom)(fd, buffer, bytes, flags, from, length), PART(buffer, bytes),
                flags);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    UNTIL_WHOLE(false, WHOLE_RECEIVE, REAL(recvmsg)(fd, message, flags), message->msg_iov, message->msg_iovlen,
                message->msg_control ? 0 : flags);
}

EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout)
{
    UNTIL_LAST(false, WHOLE_RECEIVE, REAL(recvmmsg)(fd, messages, count, flags, timeout), timeout);
}

/* Checks the size for the functions that a program compiled with -D_FORTIFY_SOURCE calls; `room` is the buffer's. */
#define CHECKED(name, ...) \
    do { \
        if (bytes > room) \
            return REAL(name)(__VA_ARGS__); /* which ends the program */ \
    } while (0)

ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room);
EXPORT ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room)
{
    CHECKED(__read_chk, fd, buffer, bytes, room);
    return read(fd, buffer, bytes);
}

ssize_t __recv_chk(int fd, void *buffer, size_t bytes, size_t room, int flags);
EXPORT ssize_t __recv_chk(int fd, void *buffer, size_t bytes, size_t room, int flags)
{
    CHECKED(__recv_chk, fd, buffer, bytes, room, flags);
    return recv(fd, buffer, bytes, flags);
}

ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t bytes, size_t room, int flags,
                       struct sockaddr *restrict from, socklen_t *restrict length);
EXPORT ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t bytes, size_t room, int flags,
                              struct sockaddr *restrict from, socklen_t *restrict length)
{
    CHECKED(__recvfrom_chk, fd, buffer, bytes, room, flags, from, length);
    return recvfrom(fd, buffer, bytes, flags, from, length);
}

/* Returns the error with which connect fails when its time limit has passed. */
static int too_late(int fd)
{
    int domain = AF_UNSPEC;
    socklen_t bytes = sizeof domain;

    raw_getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes);
    return domain == AF_UNIX ? EAGAIN : EINPROGRESS;
}

/* Once more, with this limit. */
static int connect_for(int fd, const struct sockaddr *address, socklen_t length, int64_t rest)
{
    struct timeval limit = {0, 0}, left = {rest / 1000000000, rest % 1000000000 / 1000 + 1};
    socklen_t bytes = sizeof limit;

    raw_getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &bytes);
    raw_setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &left, sizeof left);
    int result = REAL(connect)(fd, address, length), error = errno;
    raw_setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    errno = error;
    return result;
}

/* Made again it waits for the connection that is under way, for what is left of the limit: nobody else uses the socket
 * before it is connected. */
EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    int64_t since = now_if_needed(), rest;
    uint32_t before = interruption_begin();
    int result = REAL(connect)(fd, address, length);

    while (result < 0 && errno == EINTR && interrupted_by_us(before)) {
        rest = limit_rest(fd, SO_SNDTIMEO, since);
        errno = rest == 0 ? too_late(fd) : EINTR;
        if (rest <= 0)
            break;
        result = connect_for(fd, address, length, rest);
    }
    return result;
}

EXPORT int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict length)
{
    UNTIL_DONE(false, SO_RCVTIMEO, REAL(accept)(fd, address, length));
}

EXPORT int accept4(int fd, struct sockaddr *restrict address, socklen_t *restrict length, int flags)
{
    UNTIL_DONE(false, SO_RCVTIMEO, REAL(accept4)(fd, address, length, flags));
}

EXPORT ssize_t write(int fd, const void *buffer, size_t bytes)
{
    UNTIL_WHOLE(false, WHOLE_WRITE, REAL(write)(fd, buffer, bytes), PART(buffer, bytes), 0);
}

EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
    UNTIL_WHOLE(false, WHOLE_WRITE, REAL(writev)(fd, parts, count), parts, (size_t)count, 0);
}

EXPORT ssize_t send(int fd, const void *buffer, size_t bytes, int flags)
{
    UNTIL_WHOLE(false, WHOLE_SEND, REAL(send)(fd, buffer, bytes, flags), PART(buffer, bytes), flags);
}

EXPORT ssize_t sendto(int fd, const void *buffer, size_t bytes, int flags, const struct sockaddr *to, socklen_t length)
{
    UNTIL_WHOLE(false, WHOLE_SEND, REAL(sendto)(fd, buffer, bytes, flags, to, length), PART(buffer, bytes), flags);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    UNTIL_WHOLE(false, WHOLE_SEND, REAL(sendmsg)(fd, message, flags), message->msg_iov, message->msg_iovlen, flags);
}

EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    UNTIL_LAST(false, WHOLE_SEND, REAL(sendmmsg)(fd, messages, count, flags), NULL);
}

/* Those calls again, made by syscall(2) with these arguments. */
long direct_move(long number, const long a[6], direct_next *next)
{
    int fd = (int)a[0], flags = (int)a[3];
    struct mmsghdr *messages = (struct mmsghdr *)a[1];
    unsigned count = (unsigned)a[2];

    switch (number) {
    case SYS_read: UNTIL_WHOLE(true, WHOLE_READ, next(number, a), PART(a[1], (size_t)a[2]), 0);
    case SYS_readv: UNTIL_WHOLE(true, WHOLE_READ, next(number, a), (const struct iovec *)a[1], (size_t)a[2], 0);
    case SYS_recvfrom: UNTIL_WHOLE(true, WHOLE_RECEIVE, next(number, a), PART(a[1], (size_t)a[2]), flags);
    case SYS_recvmsg:
        UNTIL_WHOLE(true, WHOLE_RECEIVE, next(number, a), ((struct msghdr *)a[1])->msg_iov,
                    ((struct msghdr *)a[1])->msg_iovlen, ((struct msghdr *)a[1])->msg_control ? 0 : (int)a[2]);
    case SYS_recvmmsg: UNTIL_LAST(true, WHOLE_RECEIVE, next(number, a), (struct timespec *)a[4]);
    case SYS_accept:
    case SYS_accept4: UNTIL_DONE(true, SO_RCVTIMEO, next(number, a));
    case SYS_write: UNTIL_WHOLE(true, WHOLE_WRITE, next(number, a), PART(a[1], (size_t)a[2]), 0);
    case SYS_writev: UNTIL_WHOLE(true, WHOLE_WRITE, next(number, a), (const struct iovec *)a[1], (size_t)a[2], 0);
    case SYS_sendto: UNTIL_WHOLE(true, WHOLE_SEND, next(number, a), PART(a[1], (size_t)a[2]), flags);
    case SYS_sendmsg:
        UNTIL_WHOLE(true, WHOLE_SEND, next(number, a), ((struct msghdr *)a[1])->msg_iov,
                    ((struct msghdr *)a[1])->msg_iovlen, (int)a[2]);
    case SYS_sendmmsg: UNTIL_LAST(true, WHOLE_SEND, next(number, a), NULL);
    default: return direct_copy(number, a, next);
    }
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
