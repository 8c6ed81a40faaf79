/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/file/ring.h"

#include "preload/file/file.h"
#include "preload/options.h"
#include "preload/raw.h"

bool ring_has_room(uint64_t bytes)
{
    return file_used() + bytes <= options.max_size / 4 * 3;
}

bool ring_may_grow(const struct ring *r, uint64_t bytes)
{
    return r->count < 2 || (!r->full && ring_has_room(bytes));
}

bool ring_add(struct ring *r, struct hqm_segment *segment)
{
    if (r->count == r->room) {
        uint32_t room = r->room ? r->room * 2 : 512;
        struct hqm_segment **more = raw_memory(room * sizeof *more);

        if (!more)
            return false;
        for (uint32_t i = 0; i < r->count; i++)
            more[i] = r->segments[i];
        if (r->segments)
            raw_munmap(r->segments, r->room * sizeof *more);
        r->segments = more;
        r->room = room;
    }
    r->segments[r->count++] = segment;
    return true;
}

struct hqm_segment *ring_turn(struct ring *r, const struct hqm_segment *newest, uint32_t dropped, uint64_t until_us)
{
    struct hqm_segment *segment = ring_oldest(r);
    struct hqm_header *header = file_header();
    uint64_t known = __atomic_load_n(&header->trace_from_us, __ATOMIC_RELAXED);

    r->full = true;
    r->oldest = (r->oldest + 1) % r->count;
    while (known < until_us && !__atomic_compare_exchange_n(&header->trace_from_us, &known, until_us, true,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    __atomic_fetch_add(&header->trace_dropped, dropped, __ATOMIC_RELAXED);
    __atomic_store_n(&segment->count, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&segment->first, newest->first + newest->capacity, __ATOMIC_RELEASE);
    return segment;
}

void ring_deinit(struct ring *r)
{
    if (r->segments)
        raw_munmap(r->segments, r->room * sizeof *r->segments);
    *r = (struct ring){0};
}
