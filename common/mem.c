/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/mem.h"
#include "common/err.h"
#include <stdarg.h>
#include <string.h>

_Noreturn void mem_exhausted(void)
{
    static const char text[] = "hq: there is not enough memory; free some or work on less data\n";

    /* No stdio and no exit handlers: either may want memory. */
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(HQ_DATA);
    _exit(HQ_DATA);
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
