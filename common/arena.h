/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bump allocator: many small objects that end together. Objects never move. A zeroed struct arena is empty and ready.
 * Not thread-safe. Ends the process when memory ends (see mem.h).
 */
#ifndef HQ_COMMON_ARENA_H
#define HQ_COMMON_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *blocks; /* private: newest first */
    char *next, *end;           /* private: free part of the newest block */
    size_t bytes;               /* asked for since init or reset, alignment included */
};

void arena_init(struct arena *a);

/* Zeroed memory aligned for any type; never NULL, also for size 0. */
void *arena_alloc(struct arena *a, size_t size) __attribute__((returns_nonnull, alloc_size(2)));

/* Like arena_alloc, at a multiple of `align`, which is a power of two up to 4096. */
void *arena_alloc_aligned(struct arena *a, size_t size, size_t align) __attribute__((returns_nonnull, alloc_size(2)));

/* An array; n * size is checked for overflow. */
void *arena_array(struct arena *a, size_t n, size_t size) __attribute__((returns_nonnull, alloc_size(2, 3)));

/* A copy of the text. */
char *arena_strdup(struct arena *a, const char *s) __attribute__((returns_nonnull));
/* Copies n bytes, NULs included, and adds a NUL. */
char *arena_strndup(struct arena *a, const char *s, size_t n) __attribute__((returns_nonnull));
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((returns_nonnull, format(printf, 2, 3)));

/* Ends all objects and keeps one block for the next ones. */
void arena_reset(struct arena *a);
/* Ends all objects; the arena is empty and may be used again. */
void arena_deinit(struct arena *a);

#define ARENA_NEW(a, T)      ((T *)arena_alloc_aligned((a), sizeof(T), _Alignof(T)))
#define ARENA_ARRAY(a, n, T) ((T *)arena_array((a), (n), sizeof(T)))

#endif
