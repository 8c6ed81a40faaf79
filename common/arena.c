/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/arena.h"
#include "common/mem.h"
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK_MIN = 4096 - 64, BLOCK_MAX = 1 << 20, ALIGN_ANY = _Alignof(max_align_t) };

struct arena_block {
    struct arena_block *older;
    size_t size; /* of data */
    _Alignas(ALIGN_ANY) char data[];
};

void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

/* Blocks double, so that the number of mallocs is logarithmic; a larger object gets a block of its own size. */
static void add_block(struct arena *a, size_t need)
{
    size_t size = a->blocks ? a->blocks->size * 2 : BLOCK_MIN;
    struct arena_block *b;

    if (size > BLOCK_MAX)
        size = BLOCK_MAX;
    if (size < need)
        size = need;
    if (size > PTRDIFF_MAX - sizeof *b)
        mem_exhausted();
    b = xmalloc(sizeof *b + size);
    b->older = a->blocks;
    b->size = size;
    a->blocks = b;
    a->next = b->data;
    a->end = b->data + size;
}

static size_t padding(const char *p, size_t align)
{
    return -(uintptr_t)p & (align - 1);
}

void *arena_alloc_aligned(struct arena *a, size_t size, size_t align)
{
    size_t pad = padding(a->next, align);
    size_t left = (size_t)(a->end - a->next);

    if (!a->next || left < pad || left - pad < size) {
        if (size > PTRDIFF_MAX - align)
            mem_exhausted();
        add_block(a, size + align);
        pad = padding(a->next, align);
    }
    char *p = a->next + pad;

    a->next = p + size;
    a->bytes += pad + size;
    return memset(p, 0, size);
}

void *arena_alloc(struct arena *a, size_t size)
{
    return arena_alloc_aligned(a, size, ALIGN_ANY);
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes))
        mem_exhausted();
    return arena_alloc(a, bytes);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    if (n == SIZE_MAX)
        mem_exhausted();
    char *p = arena_alloc_aligned(a, n + 1, 1);

    if (n)
        memcpy(p, s, n);
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;

    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        mem_exhausted();
    char *p = arena_alloc_aligned(a, (size_t)n + 1, 1);

    vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

static void free_blocks(struct arena_block *b)
{
    while (b) {
        struct arena_block *older = b->older;

        free(b);
        b = older;
    }
}

void arena_reset(struct arena *a)
{
    struct arena_block *keep = a->blocks;

    if (!keep)
        return;
    free_blocks(keep->older);
    keep->older = NULL;
    a->next = keep->data;
    a->end = keep->data + keep->size;
    a->bytes = 0;
}

void arena_deinit(struct arena *a)
{
    free_blocks(a->blocks);
    arena_init(a);
}
