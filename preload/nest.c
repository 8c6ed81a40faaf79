/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the collector's own mappings lie: apart from the program's. Where nothing is wished for the kernel takes the
 * highest hole that fits, which is often one that the program has just made, and may fill again by MAP_FIXED: with one
 * thread it may take for granted that nobody else maps anything there.
 */
#include "preload/raw.h"

/* Below this library, and so below what the kernel gives to those who wish for nothing. More than programs map as a
 * rule, and little enough to stay where ThreadSanitizer, or 39 bits of addresses, allow mappings. */
#define DISTANCE (UINT64_C(1) << 38)
#define EXTENT   (DISTANCE / 2)
/* The largest pages that kernels for our processors have. */
#define GRAIN    UINT64_C(65536)

uint64_t raw_nest(size_t bytes)
{
    static volatile uint64_t taken;
    uint64_t library = (uint64_t)&taken & ~(GRAIN - 1), room = (bytes + GRAIN - 1) & ~(GRAIN - 1);

    /* The libraries of the collector lie close together: each begins at a place of its own. */
    uint64_t start = library / GRAIN * UINT64_C(0x9e3779b97f4a7c15) / GRAIN * GRAIN;

    if (library < DISTANCE + GRAIN || room > EXTENT)
        return 0;
    return library - DISTANCE + (start + __atomic_fetch_add(&taken, room, __ATOMIC_RELAXED)) % EXTENT;
}
