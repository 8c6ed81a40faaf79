/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IO_READ and IO_WRITE of calls that move bytes from one descriptor to another without the program's seeing them (cp
 * and cat do, by copy_file_range): they count for both. And of those that read and write several parts at a place, or
 * several messages.
 */
#include "preload/exact/io.h"

#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <fcntl.h>
#include <unistd.h>

static ssize_t count_moved(const void *function, ssize_t bytes)
{
    count_read(function, bytes);
    return count_written(function, bytes);
}

EXPORT ssize_t sendfile(int out, int in, off_t *at, size_t bytes)
{
    return count_moved(REAL(sendfile), REAL(sendfile)(out, in, at, bytes));
}
EXPORT ssize_t sendfile64(int out, int in, off64_t *at, size_t bytes)
{
    return count_moved(REAL(sendfile64), REAL(sendfile64)(out, in, at, bytes));
}
EXPORT ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t bytes, unsigned flags)
{
    return count_moved(REAL(copy_file_range), REAL(copy_file_range)(in, from, out, to, bytes, flags));
}
EXPORT ssize_t splice(int in, off64_t *from, int out, off64_t *to, size_t bytes, unsigned flags)
{
    return count_moved(REAL(splice), REAL(splice)(in, from, out, to, bytes, flags));
}

EXPORT ssize_t preadv(int fd, const struct iovec *parts, int count, off_t at)
{
    return count_read(REAL(preadv), REAL(preadv)(fd, parts, count, at));
}
EXPORT ssize_t preadv64(int fd, const struct iovec *parts, int count, off64_t at)
{
    return count_read(REAL(preadv64), REAL(preadv64)(fd, parts, count, at));
}
EXPORT ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t at, int flags)
{
    return count_read(REAL(preadv2), REAL(preadv2)(fd, parts, count, at, flags));
}
EXPORT ssize_t preadv64v2(int fd, const struct iovec *parts, int count, off64_t at, int flags)
{
    return count_read(REAL(preadv64v2), REAL(preadv64v2)(fd, parts, count, at, flags));
}
EXPORT ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    return count_written(REAL(pwritev), REAL(pwritev)(fd, parts, count, at));
}
EXPORT ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at)
{
    return count_written(REAL(pwritev64), REAL(pwritev64)(fd, parts, count, at));
}
EXPORT ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t at, int flags)
{
    return count_written(REAL(pwritev2), REAL(pwritev2)(fd, parts, count, at, flags));
}
EXPORT ssize_t pwritev64v2(int fd, const struct iovec *parts, int count, off64_t at, int flags)
{
    return count_written(REAL(pwritev64v2), REAL(pwritev64v2)(fd, parts, count, at, flags));
}

static ssize_t bytes_of(const struct mmsghdr *messages, int count)
{
    ssize_t bytes = 0;

    for (int i = 0; i < count; i++)
        bytes += messages[i].msg_len;
    return bytes;
}

EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned room, int flags, struct timespec *limit)
{
    int count = REAL(recvmmsg)(fd, messages, room, flags, limit);

    count_read(REAL(recvmmsg), bytes_of(messages, count));
    return count;
}
EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned room, int flags)
{
    int count = REAL(sendmmsg)(fd, messages, room, flags);

    count_written(REAL(sendmmsg), bytes_of(messages, count));
    return count;
}
