/* SPDX-License-Identifier: BSD-3-Clause */
/* poll and its like end with EINTR when a handler has run: after our own they wait for the rest of their time (sleep.c). */
#include "preload/deadline.h"
#include "preload/export.h"
#include "preload/signals.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

static int64_t deadline_after_ms(int timeout)
{
    return deadline_now() + (int64_t)timeout * 1000000;
}

/* Rounded up, so that the whole time has passed when nothing is left. */
static int rest_ms(int64_t deadline, int timeout)
{
    int64_t rest = deadline - deadline_now();

    if (timeout <= 0)
        return timeout;
    return rest > 0 ? (int)((rest + 999999) / 1000000) : 0;
}

EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    int64_t deadline = timeout > 0 ? deadline_after_ms(timeout) : 0;
    int rest = timeout, result;

    do {
        interruption_clear();
        result = REAL(poll)(fds, count, rest);
        if (result >= 0)
            break;
        rest = rest_ms(deadline, timeout);
    } while (interrupted_by_us());
    return result;
}

/* What a program compiled with -D_FORTIFY_SOURCE calls. */
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t bytes);
EXPORT int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t bytes)
{
    if (bytes / sizeof *fds < count)
        return REAL(__poll_chk)(fds, count, timeout, bytes);    /* which ends the program */
    return poll(fds, count, timeout);
}

EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    int64_t deadline = timeout ? deadline_after(timeout) : 0;
    struct timespec rest = timeout ? *timeout : (struct timespec){ 0, 0 };
    int result;

    do {
        interruption_clear();
        result = REAL(ppoll)(fds, count, timeout ? &rest : NULL, mask);
        if (result >= 0)
            break;
        if (timeout)
            rest = deadline_rest(deadline);
    } while (interrupted_by_us());
    return result;
}

int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t bytes);
EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t bytes)
{
    if (bytes / sizeof *fds < count)
        return REAL(__ppoll_chk)(fds, count, timeout, mask, bytes);
    return ppoll(fds, count, timeout, mask);
}

/* The kernel leaves the sets alone and writes the time that is left into *timeout: the call can be made again as it is. */
EXPORT int select(int count, fd_set *restrict reading, fd_set *restrict writing, fd_set *restrict failing,
                  struct timeval *restrict timeout)
{
    int result;

    do {
        interruption_clear();
        result = REAL(select)(count, reading, writing, failing, timeout);
    } while (result < 0 && interrupted_by_us());
    return result;
}

EXPORT int pselect(int count, fd_set *restrict reading, fd_set *restrict writing, fd_set *restrict failing,
                   const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
    int64_t deadline = timeout ? deadline_after(timeout) : 0;
    struct timespec rest = timeout ? *timeout : (struct timespec){ 0, 0 };
    int result;

    do {
        interruption_clear();
        result = REAL(pselect)(count, reading, writing, failing, timeout ? &rest : NULL, mask);
        if (result >= 0)
            break;
        if (timeout)
            rest = deadline_rest(deadline);
    } while (interrupted_by_us());
    return result;
}

EXPORT int epoll_wait(int fd, struct epoll_event *events, int count, int timeout)
{
    return epoll_pwait(fd, events, count, timeout, NULL);
}

EXPORT int epoll_pwait(int fd, struct epoll_event *events, int count, int timeout, const sigset_t *mask)
{
    int64_t deadline = timeout > 0 ? deadline_after_ms(timeout) : 0;
    int rest = timeout, result;

    do {
        interruption_clear();
        result = REAL(epoll_pwait)(fd, events, count, rest, mask);
        if (result >= 0)
            break;
        rest = rest_ms(deadline, timeout);
    } while (interrupted_by_us());
    return result;
}

EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int count, const struct timespec *timeout, const sigset_t *mask)
{
    int64_t deadline = timeout ? deadline_after(timeout) : 0;
    struct timespec rest = timeout ? *timeout : (struct timespec){ 0, 0 };
    int result;

    do {
        interruption_clear();
        result = REAL(epoll_pwait2)(fd, events, count, timeout ? &rest : NULL, mask);
        if (result >= 0)
            break;
        if (timeout)
            rest = deadline_rest(deadline);
    } while (interrupted_by_us());
    return result;
}
