/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments of the measurement file that may not grow beyond its bound (--max-size), in turn: when there is no room for
 * another, the records of the oldest make room. One thread at a time; nothing locks.
 */
#ifndef HQ_PRELOAD_FILE_RING_H
#define HQ_PRELOAD_FILE_RING_H

#include "format/measurement.h"

#include <stdbool.h>

struct ring {
    struct hqm_segment **segments;
    uint32_t count, room, oldest;
    bool full; /* from now on the oldest is used again */
};

/* Is there still more than the quarter of the bound that is left for call paths, behind so many bytes? */
bool ring_has_room(uint64_t bytes);

/* May it have another segment of so many bytes? Two each ring may. */
bool ring_may_grow(const struct ring *r, uint64_t bytes);

/* False: there is no memory. */
bool ring_add(struct ring *r, struct hqm_segment *segment);

/* The one that is to be used again next, where there are two or more. */
static inline struct hqm_segment *ring_oldest(const struct ring *r)
{
    return r->segments[r->oldest];
}

/*
 * Uses the oldest again behind `newest`, which it returns empty. `dropped` records of it, the last at `until_us` since
 * the start, are in the trace no more. A reader finds none in it until it is the newest.
 */
struct hqm_segment *ring_turn(struct ring *r, const struct hqm_segment *newest, uint32_t dropped, uint64_t until_us);

/* Frees its memory; the segments stay. */
void ring_deinit(struct ring *r);

#endif
