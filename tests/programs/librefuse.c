/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: one allocation is refused, as by a machine whose memory ends there: the REFUSE_NTH of those that the
 * object asks for whose path has REFUSE_BY in it (none: any). Then a file REFUSE_TOLD is made, if that is set.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static atomic_long asked;
static long nth = -1;
static const char *by, *told;

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv("REFUSE_NTH");

    by = getenv("REFUSE_BY");
    told = getenv("REFUSE_TOLD");
    nth = text ? atol(text) : 0;
}

static bool refused(const void *caller)
{
    Dl_info at;

    if (nth <= 0 || (by && (!dladdr(caller, &at) || !at.dli_fname || !strstr(at.dli_fname, by))) ||
        atomic_fetch_add(&asked, 1) + 1 != nth)
        return false;
    if (told)
        close(open(told, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return refused(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return refused(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return refused(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (refused(__builtin_return_address(0)))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}
