/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O2 -g -ldl */
/* Preloaded it is a slow file system: opening a measurement file takes a tenth of a second. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

int open(const char *path, int flags, ...)
{
    int (*real)(const char *, int, mode_t) = (int (*)(const char *, int, mode_t))dlsym(RTLD_NEXT, "open");
    size_t n = strlen(path);
    va_list args;

    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (n > 4 && !strcmp(path + n - 4, ".hqm"))
        nanosleep(&(struct timespec){0, 100000000}, NULL);
    return real(path, flags, mode);
}
