/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/counts.h"

#include "preload/hot.h"
#include "preload/raw.h"
#include "preload/sources/source.h"

#include <string.h>

bool counts_marked;

void counts_begin(void)
{
    struct lane_room *room = self.lane->room;

    memset(room->counted, 0, sizeof room->counted);
    memset(room->noted, 0, sizeof room->noted);
    room->clock_us = 0;
}

/* A record holds 32 bits. What cannot be noted now is part of the next one. */
static COLD void note(int event, struct lane_room *room, uint64_t now_us)
{
    while (room->noted[event] < room->counted[event]) {
        uint64_t more = room->counted[event] - room->noted[event];
        uint32_t part = more > UINT32_MAX ? UINT32_MAX : (uint32_t)more;

        if (!lane_trace(self.lane, part, HQM_TRACE_MARK, HQM_MARK_COUNT + (unsigned)event, now_us)) {
            file_lost(HQM_LOSS_TRACE, 1);
            return;
        }
        room->noted[event] += part;
    }
}

static void note_read(uint64_t now_us)
{
    for (int i = 0; i < options.events; i++)
        if (options.counted >> i & 1)
            note(i, self.lane->room, now_us);
}

COLD void counts_note(uint64_t now_us)
{
    if (!options.counted)
        return;
    sources_read(self.lane->room->counted);
    note_read(now_us);
}

/* Reading the clock is a system call: one in COST microseconds in the long run, BURST / COST of them at once. */
static bool is_affordable(struct lane_room *room, uint64_t now_us)
{
    enum { COST = 50, BURST = 3200 };

    if (room->clock_us + BURST < now_us)
        room->clock_us = now_us - BURST;
    if (room->clock_us + COST > now_us)
        return false;
    room->clock_us += COST;
    return true;
}

/* The clock grows from one look to the next, also where the sample has fired before a mark that was noted since. */
static void read_clock(uint32_t late_ns)
{
    struct lane_room *room = self.lane->room;
    uint64_t now = (uint64_t)raw_cpu_time(CLOCK_THREAD_CPUTIME_ID) - late_ns,
             least = room->noted[options.clock - 1] + 1;

    room->counted[options.clock - 1] = now > least ? now : least;
}

void counts_clock(uint64_t now_us)
{
    if (!options.clock || !self.lane || !is_affordable(self.lane->room, now_us))
        return;
    counts_marked = true;
    read_clock(0);
    note(options.clock - 1, self.lane->room, now_us);
}

COLD void counts_read(void)
{
    if (options.counted)
        sources_read(self.lane->room->counted);
    if (options.clock)
        read_clock(self.late_ns);
}

COLD void counts_at_sample(uint64_t now_us)
{
    note_read(now_us);
    if (options.clock)
        note(options.clock - 1, self.lane->room, now_us);
}
