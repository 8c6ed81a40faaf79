/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IO_READ and IO_WRITE: bytes moved by the system calls for files and sockets, and by stdio, which makes its system
 * calls inside the C library. stdio is counted by what the program asks for, where it asks for it.
 */
/* stdio.h has some of these functions inline where the compiler optimises, and clang exports no function that was
 * defined so before. */
#ifndef __NO_INLINE__
#define __NO_INLINE__
#endif
/* _FORTIFY_SOURCE does the same. */
#undef _FORTIFY_SOURCE
#include "preload/exact/io.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

EXPORT ssize_t read(int fd, void *buffer, size_t bytes)
{
    return count_read(REAL(read), REAL(read)(fd, buffer, bytes));
}
EXPORT ssize_t pread(int fd, void *buffer, size_t bytes, off_t at)
{
    return count_read(REAL(pread), REAL(pread)(fd, buffer, bytes, at));
}
EXPORT ssize_t pread64(int fd, void *buffer, size_t bytes, off_t at)
{
    return count_read(REAL(pread64), REAL(pread64)(fd, buffer, bytes, at));
}
EXPORT ssize_t readv(int fd, const struct iovec *parts, int count)
{
    return count_read(REAL(readv), REAL(readv)(fd, parts, count));
}
EXPORT ssize_t recv(int fd, void *buffer, size_t bytes, int flags)
{
    return count_read(REAL(recv), REAL(recv)(fd, buffer, bytes, flags));
}
EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    return count_read(REAL(recvmsg), REAL(recvmsg)(fd, message, flags));
}
EXPORT ssize_t write(int fd, const void *buffer, size_t bytes)
{
    return count_written(REAL(write), REAL(write)(fd, buffer, bytes));
}
EXPORT ssize_t pwrite(int fd, const void *buffer, size_t bytes, off_t at)
{
    return count_written(REAL(pwrite), REAL(pwrite)(fd, buffer, bytes, at));
}
EXPORT ssize_t pwrite64(int fd, const void *buffer, size_t bytes, off_t at)
{
    return count_written(REAL(pwrite64), REAL(pwrite64)(fd, buffer, bytes, at));
}
EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return count_written(REAL(writev), REAL(writev)(fd, parts, count));
}
EXPORT ssize_t send(int fd, const void *buffer, size_t bytes, int flags)
{
    return count_written(REAL(send), REAL(send)(fd, buffer, bytes, flags));
}
EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return count_written(REAL(sendmsg), REAL(sendmsg)(fd, message, flags));
}

EXPORT ssize_t recvfrom(int fd, void *restrict buffer, size_t bytes, int flags, struct sockaddr *restrict from,
                        socklen_t *restrict length)
{
    return count_read(REAL(recvfrom), REAL(recvfrom)(fd, buffer, bytes, flags, from, length));
}

EXPORT ssize_t sendto(int fd, const void *buffer, size_t bytes, int flags, const struct sockaddr *to, socklen_t length)
{
    return count_written(REAL(sendto), REAL(sendto)(fd, buffer, bytes, flags, to, length));
}

EXPORT size_t fread(void *restrict buffer, size_t size, size_t count, FILE *restrict file)
{
    size_t got = REAL(fread)(buffer, size, count, file);

    count_read(REAL(fread), (ssize_t)(got * size));
    return got;
}

EXPORT size_t fwrite(const void *restrict buffer, size_t size, size_t count, FILE *restrict file)
{
    size_t put = REAL(fwrite)(buffer, size, count, file);

    count_written(REAL(fwrite), (ssize_t)(put * size));
    return put;
}

EXPORT char *fgets(char *restrict line, int room, FILE *restrict file)
{
    char *got = REAL(fgets)(line, room, file);

    if (got)
        count_read(REAL(fgets), (ssize_t)strlen(got));
    return got;
}

EXPORT ssize_t getline(char **restrict line, size_t *restrict room, FILE *restrict file)
{
    return count_read(REAL(getline), REAL(getline)(line, room, file));
}

EXPORT int fputs(const char *restrict text, FILE *restrict file)
{
    int result = REAL(fputs)(text, file);

    if (result >= 0)
        count_written(REAL(fputs), (ssize_t)strlen(text));
    return result;
}

EXPORT int puts(const char *text)
{
    int result = REAL(puts)(text);

    if (result >= 0)
        count_written(REAL(puts), (ssize_t)strlen(text) + 1);
    return result;
}

EXPORT int vfprintf(FILE *restrict file, const char *restrict format, va_list arguments)
{
    return (int)count_written(REAL(vfprintf), REAL(vfprintf)(file, format, arguments));
}

EXPORT int fprintf(FILE *restrict file, const char *restrict format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int written = vfprintf(file, format, arguments);
    va_end(arguments);
    return written;
}

EXPORT int printf(const char *restrict format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int written = vfprintf(stdout, format, arguments);
    va_end(arguments);
    return written;
}

/* Wraps the functions that programs compiled with -D_FORTIFY_SOURCE call; the checks stay the C library's. */
ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room);
EXPORT ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room)
{
    return count_read(REAL(__read_chk), REAL(__read_chk)(fd, buffer, bytes, room));
}

size_t __fread_chk(void *buffer, size_t room, size_t size, size_t count, FILE *file);
EXPORT size_t __fread_chk(void *buffer, size_t room, size_t size, size_t count, FILE *file)
{
    size_t got = REAL(__fread_chk)(buffer, room, size, count, file);

    count_read(REAL(__fread_chk), (ssize_t)(got * size));
    return got;
}

int __vfprintf_chk(FILE *file, int flag, const char *format, va_list arguments);
EXPORT int __vfprintf_chk(FILE *file, int flag, const char *format, va_list arguments)
{
    return (int)count_written(REAL(__vfprintf_chk), REAL(__vfprintf_chk)(file, flag, format, arguments));
}

int __fprintf_chk(FILE *file, int flag, const char *format, ...);
EXPORT int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int written = __vfprintf_chk(file, flag, format, arguments);
    va_end(arguments);
    return written;
}

int __printf_chk(int flag, const char *format, ...);
EXPORT int __printf_chk(int flag, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int written = __vfprintf_chk(stdout, flag, format, arguments);
    va_end(arguments);
    return written;
}
