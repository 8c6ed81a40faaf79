/* SPDX-License-Identifier: BSD-3-Clause */
/* poll and its like end with EINTR when a handler has run: after our own they wait for the rest of their time
 * (sleep.c). */
/* It defines some of these functions inline, and clang exports no function that was defined so before. */
#undef _FORTIFY_SOURCE
#include "preload/waits/deadline.h"
#include "preload/export.h"
#include "preload/waits/interruption.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    struct timeout_ms limit = timeout_of_ms(timeout);

    return AGAIN_WHILE_OURS(REAL(poll)(fds, count, timeout_left_ms(&limit)));
}

/* Wraps the function that a program compiled with -D_FORTIFY_SOURCE calls. */
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t bytes);
EXPORT int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t bytes)
{
    if (bytes / sizeof *fds < count)
        return REAL(__poll_chk)(fds, count, timeout, bytes); /* which ends the program */
    return poll(fds, count, timeout);
}

EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    struct timeout limit = timeout_of(timeout);

    return AGAIN_WHILE_OURS_MASKED(mask, REAL(ppoll)(fds, count, timeout_left(&limit), mask));
}

int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t bytes);
EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
                       size_t bytes)
{
    if (bytes / sizeof *fds < count)
        return REAL(__ppoll_chk)(fds, count, timeout, mask, bytes);
    return ppoll(fds, count, timeout, mask);
}

/* The kernel leaves the sets alone and writes the time that is left into *timeout: the call can be made again as it is.
 */
EXPORT int select(int count, fd_set *restrict reading, fd_set *restrict writing, fd_set *restrict failing,
                  struct timeval *restrict timeout)
{
    return AGAIN_WHILE_OURS(REAL(select)(count, reading, writing, failing, timeout));
}

EXPORT int pselect(int count, fd_set *restrict reading, fd_set *restrict writing, fd_set *restrict failing,
                   const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
    struct timeout limit = timeout_of(timeout);

    return AGAIN_WHILE_OURS_MASKED(mask, REAL(pselect)(count, reading, writing, failing, timeout_left(&limit), mask));
}

EXPORT int epoll_wait(int fd, struct epoll_event *events, int count, int timeout)
{
    return epoll_pwait(fd, events, count, timeout, NULL);
}

EXPORT int epoll_pwait(int fd, struct epoll_event *events, int count, int timeout, const sigset_t *mask)
{
    struct timeout_ms limit = timeout_of_ms(timeout);

    return AGAIN_WHILE_OURS_MASKED(mask, REAL(epoll_pwait)(fd, events, count, timeout_left_ms(&limit), mask));
}

EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int count, const struct timespec *timeout,
                        const sigset_t *mask)
{
    struct timeout limit = timeout_of(timeout);

    return AGAIN_WHILE_OURS_MASKED(mask, REAL(epoll_pwait2)(fd, events, count, timeout_left(&limit), mask));
}
