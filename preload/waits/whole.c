/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/waits/whole.h"

#include "preload/waits/deadline.h"
#include "preload/export.h"
#include "preload/waits/interruption.h"
#include "preload/raw.h"
#include "preload/thread.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

int64_t limit_rest(int fd, int option, int64_t since)
{
    struct timeval limit = {0, 0};
    socklen_t length = sizeof limit;

    if (raw_getsockopt(fd, SOL_SOCKET, option, &limit, &length) != 0 || (!limit.tv_sec && !limit.tv_usec))
        return -1;
    int64_t rest = (int64_t)limit.tv_sec * 1000000000 + limit.tv_usec * 1000 - (deadline_now() - since);
    return rest > 0 ? rest : 0;
}

/* Waits until the socket can be used, or its limit has passed. Returns what ppoll returns, *events what has come. */
static int wait_until_ready(int fd, int option, int64_t since, uint32_t before, bool bare, short *events)
{
    struct pollfd ready = {fd, option == SO_RCVTIMEO ? POLLIN : POLLOUT, 0};
    int found;

    do {
        int64_t rest = limit_rest(fd, option, since);
        struct timespec left = {rest / 1000000000, rest % 1000000000};
        const struct timespec *limit = rest < 0 ? NULL : &left;
        found = bare ? (int)raw_as_libc(raw_syscall(SYS_ppoll, (long)&ready, 1, (long)limit, 0, 8, 0))
                     : REAL(ppoll)(&ready, 1, limit, NULL);
    } while (found < 0 && interrupted_by_us(before));
    *events = ready.revents;
    return found;
}

/* The kernel begins its limit anew with each call, so what is left of it is waited for first. */
bool limit_again(int fd, int option, int64_t since, uint32_t before, bool bare)
{
    int64_t rest;
    short events;

    if (!interrupted_by_us(before))
        return false;
    rest = limit_rest(fd, option, since);
    errno = rest == 0 ? EAGAIN : EINTR;
    if (rest <= 0)
        return false;
    int found = wait_until_ready(fd, option, since, before, bare, &events);
    errno = found == 0 ? EAGAIN : EINTR;
    return found > 0;
}

size_t whole_most(size_t bytes)
{
    size_t most = INT_MAX & -__getauxval(AT_PAGESZ);

    return bytes < most ? bytes : most;
}

static size_t asked(const struct whole *w)
{
    size_t sum = 0;

    for (size_t i = 0; i < w->count; i++)
        sum = whole_most(sum + w->parts[i].iov_len);
    return sum;
}

enum { PIECES = 16 };

/* Fills in the bytes from `moved` to `end`, or their first parts. Returns the number of parts. */
static int rest_of(const struct whole *w, size_t moved, size_t end, struct iovec rest[PIECES])
{
    size_t at = 0;
    int found = 0;

    for (size_t i = 0; at < end && found < PIECES; at += w->parts[i++].iov_len) {
        size_t bytes = w->parts[i].iov_len, skip = moved > at ? moved - at : 0;

        if (skip < bytes)
            rest[found++] = (struct iovec){(char *)w->parts[i].iov_base + skip,
                                           (bytes < end - at ? bytes : end - at) - skip};
    }
    return found;
}

static int option_of(int fd, int option)
{
    int value = -1;
    socklen_t bytes = sizeof value;

    return raw_getsockopt(fd, SOL_SOCKET, option, &value, &bytes) == 0 ? value : -1;
}

/* Does it wait until all is moved? `flags`: those of the call's that say no. */
static bool waits(const struct whole *w, int flags)
{
    return !(raw_syscall(SYS_fcntl, w->fd, F_GETFL, 0, 0, 0, 0) & O_NONBLOCK) && !(w->flags & flags);
}

/* Devices of the kernel's own that give and take any number of bytes, and look for signals meanwhile. */
static bool is_endless(dev_t device)
{
    enum { MEMORY = 1, ZERO = 5, FULL = 7, RANDOM = 8, URANDOM = 9 };
    unsigned number = minor(device);

    return major(device) == MEMORY && (number == ZERO || number == FULL || number == RANDOM || number == URANDOM);
}

/* Would it have moved all? */
static bool is_for_all(const struct whole *w, mode_t type, dev_t device)
{
    bool writes = w->kind >= WHOLE_WRITE;
    struct termios modes;

    if (type == S_IFCHR && is_endless(device)) /* which never block */
        return true;
    if (!waits(w, MSG_DONTWAIT))
        return false;
    switch (type) {
    case S_IFIFO: return writes;
    case S_IFCHR: return writes && raw_syscall(SYS_ioctl, w->fd, TCGETS, (long)&modes, 0, 0, 0) == 0;
    case S_IFSOCK:
        return option_of(w->fd, SO_TYPE) == SOCK_STREAM &&
               (writes || (w->flags & (MSG_WAITALL | MSG_PEEK | MSG_OOB | MSG_ERRQUEUE | MSG_TRUNC)) == MSG_WAITALL);
    default: return false;
    }
}

/* A call of three arguments, as the program has made the first. */
#define MADE(w, name, a, b, c) \
    ((w)->bare ? raw_as_libc(raw_syscall(SYS_##name, (long)(a), (long)(b), (long)(c), 0, 0, 0)) : REAL(name)(a, b, c))

/*
 * On a socket. One of the network keeps its error for the next call where a part was moved: so it is looked for first,
 * and a call is made only where it will move something at once. A local one does not keep it; its calls wait by
 * themselves, for there it can take bytes before poll says so, and its limit is for each piece that is sent.
 */
static ssize_t exchange(struct whole *w, struct iovec *rest, int parts, bool *limited)
{
    struct msghdr message = {.msg_iov = rest, .msg_iovlen = (size_t)parts};
    int option = whole_limit(w->kind), flags = (w->flags & ~MSG_FASTOPEN) | MSG_NOSIGNAL, there = 0;
    bool local = option_of(w->fd, SO_DOMAIN) == AF_UNIX;
    short events = 0;

    *limited = limit_rest(w->fd, option, w->since) >= 0;
    if (local && w->kind >= WHOLE_WRITE)
        w->since = deadline_now();
    if (!local || *limited) {
        int found = wait_until_ready(w->fd, option, w->since, w->before, w->bare, &events);
        if (!local && (found <= 0 || (events & POLLHUP &&
                                      (w->kind >= WHOLE_WRITE ||
                                       raw_syscall(SYS_ioctl, w->fd, FIONREAD, (long)&there, 0, 0, 0) || !there))))
            return 0;
    }
    if (*limited)
        flags = (flags & ~MSG_WAITALL) | MSG_DONTWAIT;
    return w->kind >= WHOLE_WRITE ? MADE(w, sendmsg, w->fd, &message, flags) : MADE(w, recvmsg, w->fd, &message, flags);
}

static size_t sum_of(const struct iovec *parts, int count)
{
    size_t sum = 0;

    for (int i = 0; i < count; i++)
        sum += parts[i].iov_len;
    return sum;
}

/* Moves some of what is left behind the first *moved bytes. False if nothing more is to be moved: where a call has
 * moved less than it should and our signal has not come, it has met the end or an error, and the next would meet it
 * twice. */
static bool move(struct whole *w, mode_t type, size_t end, size_t *moved)
{
    struct iovec rest[PIECES];
    int parts = rest_of(w, *moved, end, rest);
    bool limited = false;
    ssize_t more;

    if (type == S_IFSOCK)
        more = exchange(w, rest, parts, &limited);
    else
        more = w->kind >= WHOLE_WRITE ? MADE(w, writev, w->fd, rest, parts) : MADE(w, readv, w->fd, rest, parts);
    if (more <= 0)
        return false;
    *moved += (size_t)more;
    return limited || self.call & CALL_CUT || (size_t)more == sum_of(rest, parts);
}

ssize_t whole_finish(struct whole *w, ssize_t result)
{
    struct stat status;
    int error = errno;

    if (result <= 0)
        return result;
    size_t end = asked(w), moved = (size_t)result;
    if (moved >= end || raw_fstat(w->fd, &status) != 0 || !is_for_all(w, status.st_mode & S_IFMT, status.st_rdev))
        return result;
    while (interruption_goes_on(w->before) && move(w, status.st_mode & S_IFMT, end, &moved) && moved < end)
        ;
    errno = error;
    return (ssize_t)moved;
}

/* The kernel keeps what has ended recvmmsg for the next call on the socket, which fails with it. Was it a signal? Then
 * that is forgotten, as reading the error does. */
static bool signal_was_kept(int fd)
{
    enum { RESTART = 512 }; /* ERESTARTSYS, which programs should never see */
    int kept = option_of(fd, SO_ERROR);

    return kept == RESTART || kept == EINTR;
}

static bool is_for_all_messages(const struct whole *w)
{
    return waits(w, MSG_DONTWAIT | MSG_WAITFORONE) &&
           (w->kind == WHOLE_RECEIVE || limit_rest(w->fd, SO_SNDTIMEO, w->since) < 0);
}

/* On a stream: the rest of a message. False if it stays short; none is to be moved behind such a one. */
static bool finish_message(const struct whole *w, struct mmsghdr *message)
{
    struct whole one = *w;

    one.parts = message->msg_hdr.msg_iov;
    one.count = message->msg_hdr.msg_iovlen;
    if (w->kind == WHOLE_RECEIVE) /* whose time limit begins with each message */
        one.since = deadline_now();
    if (w->kind == WHOLE_RECEIVE && (!(w->flags & MSG_WAITALL) || message->msg_hdr.msg_control))
        return !(w->flags & MSG_WAITALL);
    message->msg_len = (unsigned)whole_finish(&one, message->msg_len);
    return message->msg_len == asked(&one);
}

static int messages(const struct whole *w, struct mmsghdr *all, unsigned count, struct timespec *timeout)
{
    if (w->bare)
        return (int)raw_as_libc(raw_syscall(w->kind == WHOLE_SEND ? SYS_sendmmsg : SYS_recvmmsg, w->fd, (long)all,
                                            count, w->flags, (long)timeout, 0));
    return w->kind == WHOLE_SEND ? REAL(sendmmsg)(w->fd, all, count, w->flags)
                                 : REAL(recvmmsg)(w->fd, all, count, w->flags, timeout);
}

int whole_messages(const struct whole *w, struct mmsghdr *all, unsigned count, struct timespec *timeout, int done)
{
    const bool streams = option_of(w->fd, SO_TYPE) == SOCK_STREAM;
    int error = errno, more = 1;

    if (done <= 0 || !is_for_all_messages(w))
        return done;
    while (self.call & CALL_CUT && more > 0) {
        bool goes_on = (unsigned)done < count && (w->kind == WHOLE_SEND || signal_was_kept(w->fd));
        if ((streams && !finish_message(w, &all[done - 1])) || !goes_on || !interruption_goes_on(w->before))
            break;
        more = messages(w, all + done, count - (unsigned)done, timeout);
        done += more > 0 ? more : 0;
    }
    errno = error;
    return done;
}

bool whole_is_copied(int to)
{
    struct rlimit limit;
    struct stat status;

    if (raw_fstat(to, &status) != 0)
        return false;
    if (S_ISREG(status.st_mode))
        return raw_getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
    if (S_ISFIFO(status.st_mode)) /* gets what fits */
        return false;
    return is_for_all(&(struct whole){.fd = to, .kind = WHOLE_WRITE}, status.st_mode & S_IFMT, status.st_rdev);
}
