/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The places of functions whose calls are counted (exact events, commands of devices), below those that they were
 * called from. A node tells the frames outside of it, so from one node into one function it is always the same way. The
 * places that were found are kept in the lane, whose tree they are of, and the cells of the function's events with
 * them: to ask which module an address lies in costs more than all else that a call takes, and each cell is two
 * searches. With the guard up, after a walk.
 */
#ifndef HQ_PRELOAD_SOURCES_ENTRIES_H
#define HQ_PRELOAD_SOURCES_ENTRIES_H

#include "preload/file/lane.h"

struct entry {
    const void *function;      /* NULL: none */
    uint32_t from, generation; /* the node where the function was called from; of the modules then */
    struct place place;
    struct hqm_cell *cells[3]; /* NULL: not known; of whichever thread and event came last */
};
enum { ENTRIES_LOG2 = 9, ENTRIES_KEPT = 1 << ENTRIES_LOG2, ENTRY_CELLS = 3 };
_Static_assert(sizeof(struct entry) * ENTRIES_KEPT == sizeof(((struct lane_room *)0)->entries),
               "there is room in the lane");

/* Where the place is kept. False: it is not, and to be stored by entry_keep. */
static inline bool entry_find(const struct lane *lane, uint32_t from, const void *function, struct entry **entry)
{
    uint32_t at = (from ^ (uint32_t)((uint64_t)function >> 4)) * 0x9e3779b1u >> (32 - ENTRIES_LOG2);

    *entry = (struct entry *)lane->room->entries + at;
    return (*entry)->function == function && (*entry)->from == from && (*entry)->generation == lane->memo.generation;
}

static inline void entry_keep(const struct lane *lane, uint32_t from, const void *function, struct place place,
                              struct entry *entry)
{
    *entry = (struct entry){.function = function, .from = from, .generation = lane->memo.generation, .place = place};
}

#endif
