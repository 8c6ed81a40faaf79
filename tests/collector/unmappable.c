/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to preload: files below the directory UNMAPPABLE cannot be mapped shared, as on some FUSE and network file
 * systems. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int refuses(int fd)
{
    const char *directory = getenv("UNMAPPABLE");
    char link[64], path[4096];

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t bytes = directory ? readlink(link, path, sizeof path - 1) : -1;
    if (bytes < 0)
        return 0;
    path[bytes] = 0;
    return !strncmp(path, directory, strlen(directory));
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    static void *(*real)(void *, size_t, int, int, int, off_t);

    if (flags & MAP_SHARED && fd >= 0 && refuses(fd)) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    if (!real)
        real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    return real(address, bytes, protection, flags, fd, offset);
}
