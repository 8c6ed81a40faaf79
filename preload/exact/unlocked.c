/* SPDX-License-Identifier: BSD-3-Clause */
/* IO_READ and IO_WRITE of further functions of stdio: without locks, as sort and grep use them, to a descriptor, and by
 * lines. */
#ifndef __NO_INLINE__
#define __NO_INLINE__ /* as in io.c */
#endif
/* _FORTIFY_SOURCE does the same. */
#undef _FORTIFY_SOURCE
#include "preload/exact/io.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

EXPORT size_t fread_unlocked(void *restrict buffer, size_t size, size_t count, FILE *restrict file)
{
    size_t got = REAL(fread_unlocked)(buffer, size, count, file);

    count_read(REAL(fread_unlocked), (ssize_t)(got * size));
    return got;
}

EXPORT size_t fwrite_unlocked(const void *restrict buffer, size_t size, size_t count, FILE *restrict file)
{
    size_t put = REAL(fwrite_unlocked)(buffer, size, count, file);

    count_written(REAL(fwrite_unlocked), (ssize_t)(put * size));
    return put;
}

EXPORT char *fgets_unlocked(char *restrict line, int room, FILE *restrict file)
{
    char *got = REAL(fgets_unlocked)(line, room, file);

    if (got)
        count_read(REAL(fgets_unlocked), (ssize_t)strlen(got));
    return got;
}

EXPORT int fputs_unlocked(const char *restrict text, FILE *restrict file)
{
    int result = REAL(fputs_unlocked)(text, file);

    if (result >= 0)
        count_written(REAL(fputs_unlocked), (ssize_t)strlen(text));
    return result;
}

EXPORT ssize_t getdelim(char **restrict text, size_t *restrict room, int end, FILE *restrict file)
{
    return count_read(REAL(getdelim), REAL(getdelim)(text, room, end, file));
}

ssize_t __getdelim(char **restrict text, size_t *restrict room, int end, FILE *restrict file);
EXPORT ssize_t __getdelim(char **restrict text, size_t *restrict room, int end, FILE *restrict file)
{
    return count_read(REAL(__getdelim), REAL(__getdelim)(text, room, end, file));
}

EXPORT int vprintf(const char *restrict format, va_list arguments)
{
    return (int)count_written(REAL(vprintf), REAL(vprintf)(format, arguments));
}

EXPORT int vdprintf(int fd, const char *restrict format, va_list arguments)
{
    return (int)count_written(REAL(vdprintf), REAL(vdprintf)(fd, format, arguments));
}

EXPORT int dprintf(int fd, const char *restrict format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int written = vdprintf(fd, format, arguments);
    va_end(arguments);
    return written;
}

/* Wraps the functions that programs compiled with -D_FORTIFY_SOURCE call. */
size_t __fread_unlocked_chk(void *buffer, size_t room, size_t size, size_t count, FILE *file);
EXPORT size_t __fread_unlocked_chk(void *buffer, size_t room, size_t size, size_t count, FILE *file)
{
    size_t got = REAL(__fread_unlocked_chk)(buffer, room, size, count, file);

    count_read(REAL(__fread_unlocked_chk), (ssize_t)(got * size));
    return got;
}

char *__fgets_chk(char *line, size_t size, int room, FILE *file);
EXPORT char *__fgets_chk(char *line, size_t size, int room, FILE *file)
{
    char *got = REAL(__fgets_chk)(line, size, room, file);

    if (got)
        count_read(REAL(__fgets_chk), (ssize_t)strlen(got));
    return got;
}

ssize_t __pread_chk(int fd, void *buffer, size_t bytes, off_t at, size_t room);
EXPORT ssize_t __pread_chk(int fd, void *buffer, size_t bytes, off_t at, size_t room)
{
    return count_read(REAL(__pread_chk), REAL(__pread_chk)(fd, buffer, bytes, at, room));
}

ssize_t __pread64_chk(int fd, void *buffer, size_t bytes, off64_t at, size_t room);
EXPORT ssize_t __pread64_chk(int fd, void *buffer, size_t bytes, off64_t at, size_t room)
{
    return count_read(REAL(__pread64_chk), REAL(__pread64_chk)(fd, buffer, bytes, at, room));
}

int __vprintf_chk(int flag, const char *format, va_list arguments);
EXPORT int __vprintf_chk(int flag, const char *format, va_list arguments)
{
    return (int)count_written(REAL(__vprintf_chk), REAL(__vprintf_chk)(flag, format, arguments));
}

int __vdprintf_chk(int fd, int flag, const char *format, va_list arguments);
EXPORT int __vdprintf_chk(int fd, int flag, const char *format, va_list arguments)
{
    return (int)count_written(REAL(__vdprintf_chk), REAL(__vdprintf_chk)(fd, flag, format, arguments));
}

int __dprintf_chk(int fd, int flag, const char *format, ...);
EXPORT int __dprintf_chk(int fd, int flag, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int written = __vdprintf_chk(fd, flag, format, arguments);
    va_end(arguments);
    return written;
}
