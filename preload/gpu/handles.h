/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of what is known of a handle: open addressing in an array of any structure that begins with the handle. */
#ifndef HQ_PRELOAD_GPU_HANDLES_H
#define HQ_PRELOAD_GPU_HANDLES_H

#include <stddef.h>
#include <stdint.h>

enum { HANDLE_GONE = 1 }; /* in place of a handle that was there */

/* The place of a handle, or the one where it can be put; NULL: the table is full. The caller holds the table's lock. */
static inline void *handle_slot(void *table, size_t size, uint32_t room, uintptr_t handle)
{
    uint32_t at = (uint32_t)((handle >> 4) * 0x9e3779b1u) % room;
    uintptr_t *unused = NULL;

    for (uint32_t i = 0; i < room; i++, at = (at + 1) % room) {
        uintptr_t *slot = (uintptr_t *)((char *)table + at * size);

        if (*slot == handle)
            return slot;
        if (*slot <= HANDLE_GONE && !unused)
            unused = slot;
        if (!*slot)
            break;
    }
    return unused;
}

#endif
