/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/heap.h"

#include "preload/raw.h"

#include <stdatomic.h>
#include <string.h>

enum { BLOCK = 256 << 10 };

struct block {
    _Atomic size_t used;
};

static _Atomic(struct block *) current;

/* A block that loses the race to become the current one serves its first request and is otherwise wasted. */
static struct block *new_block(size_t bytes)
{
    struct block *block = raw_memory(bytes > BLOCK - 64 ? bytes + 64 : BLOCK);

    if (block)
        atomic_store(&block->used, 64);
    return block;
}

void *heap_take(size_t bytes)
{
    struct block *block = atomic_load(&current);
    size_t at;

    bytes = (bytes + 15) & ~(size_t)15;
    if (block && bytes < BLOCK) {
        at = atomic_fetch_add(&block->used, bytes);
        if (at + bytes <= BLOCK)
            return (char *)block + at;
    }
    block = new_block(bytes);
    if (!block)
        return NULL;
    at = atomic_fetch_add(&block->used, bytes);
    if (bytes < BLOCK / 2)
        atomic_store(&current, block);
    return (char *)block + at;
}

char *heap_copy_string(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = heap_take(bytes);

    return copy ? memcpy(copy, text, bytes) : NULL;
}
