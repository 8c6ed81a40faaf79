/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/mem.h"
#include "common/err.h"
#include "common/temporary.h"
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

static char limit_text[120]; /* made beforehand: when memory has ended nothing can be printed */

void mem_limit(uint64_t bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur <= bytes)
        return;
    limit.rlim_cur = bytes;
#ifndef __SANITIZE_ADDRESS__ /* whose own memory is larger than any limit */
    struct rlimit space;     /* `ulimit -v` may end memory before */
    if (!setrlimit(RLIMIT_DATA, &limit) && (getrlimit(RLIMIT_AS, &space) || space.rlim_cur > bytes))
        snprintf(limit_text, sizeof limit_text,
                 "hq: the limit of %llu MiB of memory is reached; ask for less, or allow more with --limit-memory\n",
                 (unsigned long long)bytes >> 20);
#endif
}

static _Noreturn void end_with(const char *text)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;

    while (atomic_flag_test_and_set(&told))
        pause(); /* another thread is ending the process */
    temporary_remove_all();
    /* No stdio and no exit handlers: either may want memory. */
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(HQ_DATA);
    _exit(HQ_DATA);
}

_Noreturn void mem_exhausted(void)
{
    static const char general[] = "hq: there is not enough memory; free some or work on less data\n";

    end_with(*limit_text ? limit_text : general);
}

void mem_end_if_refused(void)
{
    if (errno == ENOMEM)
        mem_exhausted();
    if (errno == EMFILE || errno == ENFILE)
        end_with("hq: no more files can be opened at once; allow more with `ulimit -n`\n");
}

void *xmalloc(size_t size)
{
    void *p = malloc(size ? size : 1);

    if (!p)
        mem_exhausted();
    return p;
}

void *xcalloc(size_t n, size_t size)
{
    void *p = n && size ? calloc(n, size) : calloc(1, 1);

    if (!p)
        mem_exhausted();
    return p;
}

void *xrealloc(void *p, size_t size)
{
    void *q = realloc(p, size ? size : 1);

    if (!q)
        mem_exhausted();
    return q;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes))
        mem_exhausted();
    return xrealloc(p, bytes);
}

char *xstrdup(const char *s)
{
    return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *p = xmalloc(len + 1);

    memcpy(p, s, len);
    p[len] = '\0';
    return p;
}

char *xasprintf(const char *fmt, ...)
{
    va_list ap;
    char *s;

    va_start(ap, fmt);
    int n = vasprintf(&s, fmt, ap);
    va_end(ap);
    if (n < 0)
        mem_exhausted();
    return s;
}
