/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lane: a calling context tree with its values and its trace, in the measurement file and in memory for looking up.
 *
 * A lane belongs to one thread at a time, so nothing in it is atomic; the thread takes it at its first sample and gives
 * it back when it ends, and the next thread goes on in the same tree. The number of lanes is thus that of the sampled
 * threads alive at once. Only the owner's signal handler, or the owner with its guard up (thread.h), touches a lane.
 */
#ifndef HQ_PRELOAD_FILE_LANE_H
#define HQ_PRELOAD_FILE_LANE_H

#include "preload/file/file.h"
#include "preload/openmp/marks.h"
#include "preload/options.h"
#include "preload/file/ring.h"
#include "preload/walk/unwind.h"

/* Records of one kind, appended by one thread. */
struct column {
    struct hqm_segment *segment;
    char *next;               /* where the next record goes */
    uint32_t count, capacity; /* as the segment says: what is stored there is not read again */
    uint16_t kind, record_size;
    uint32_t lane;
    uint64_t next_bytes; /* of the next segment: they double up to a limit */
};

/*
 * A slot of the hash table that finds a node or a cell by what names it. Open addressing, at a place that follows from
 * the call path; an empty slot has `number` 0. Half a cache line: the slot of a node keeps a cell of it as well, of
 * event 0 and of the thread that came by last, so that a sample need not look twice. Cells have slots of their own only
 * when they have lost that place to another.
 */
struct lookup_slot {
    uint64_t offset;
    uint32_t parent, kind;
    uint32_t number; /* of the node, + 1 */
    uint32_t path;
    union {
        struct hqm_cell *cell;     /* NULL: none */
        struct hqm_region *region; /* of a node of kind HQM_NODE_REGION */
        struct hqm_message *message;
    };
};

struct lookup {
    struct lookup_slot *slots;
    uint32_t mask, used;
};

enum { LANE_REGIONS = 8 };

/* Memory that the lane's thread has here and not in thread-local storage, which is taken from the stacks of the
 * program: phases.c, openmp/tasks.c, sources/device.c, counts.c. It holds what the thread before has left in it. */
struct lane_room {
    uint64_t phases[256], tasks[256], entries[3072];
    uint64_t counted[EVENTS_MAX], noted[EVENTS_MAX], clock_us;
};

/* The fields that every sample needs stand first, in two cache lines. */
struct lane {
    uint32_t number; /* from 1 */
    _Atomic int taken;
    struct memo memo;
    struct lookup lookup;
    struct column trace, nodes, cells;
    struct hqm_thread *thread; /* of the present owner, NULL if its record found no space */
    struct column regions, messages;
    struct ring ring;
    uint32_t owner;                    /* number of the present owner */
    uint64_t traced_us;                /* time of the last record of the trace */
    struct turns opened[LANE_REGIONS]; /* by nesting */
    struct lane_room *room;
};

/* A lane for a thread, NULL if there is no space; ends with lane_return. Safe in signal handlers. */
struct lane *lane_take(void);
void lane_return(struct lane *lane);

/* Room for some ten thousand nodes more without a system call. With the guard up. */
void lane_reserve(struct lane *lane);

/* The record of the thread that has lane number i + 1 now, NULL if none has; false: there is no such lane. */
bool lane_thread(uint32_t i, const struct hqm_thread **thread);

/* In a forked child: all lanes are as if never used. */
void lane_forget_all(void);

/* The path of a child: a number that depends on nothing else than the path, so that it is known before the parent's
 * node is. */
static inline uint32_t lane_path(uint32_t parent_path, uint32_t kind_module, uint64_t offset)
{
    uint64_t h = (offset ^ (uint64_t)kind_module << 32) * 0x9e3779b97f4a7c15u;

    return (uint32_t)(((h ^ h >> 32 ^ parent_path) * 0xc2b2ae3d27d4eb4fu) >> 32);
}

/* The child of a node, made if it is new; `path` is the child's. NO_NODE if there is no space. */
uint32_t lane_child(struct lane *lane, uint32_t parent, uint32_t path, uint32_t kind_module, uint64_t offset);

/* Asks for what lane_child needs. */
static inline void lane_child_prefetch(const struct lane *lane, uint32_t path)
{
    __builtin_prefetch(&lane->lookup.slots[path & lane->lookup.mask], 1);
}

/* Asks for what the next sample will touch; the program has driven most of it out of the processor's caches. */
static inline void lane_prefetch(const struct lane *lane)
{
    const struct frame *last = lane->memo.frames + lane->memo.depth;

    for (int i = 1; i <= 9 && i <= (int)lane->memo.depth; i += 2)
        __builtin_prefetch(last - i, 1);
    __builtin_prefetch(lane->memo.paths + lane->memo.depth, 1);
    __builtin_prefetch(lane->memo.fresh, 1);
    __builtin_prefetch(lane->memo.fresh + 2, 1);
    __builtin_prefetch(lane->trace.next, 1);
    __builtin_prefetch(lane->trace.segment, 1);
}

/* The cell of (place, event) for a thread, made if it is new; it stays where it is. NULL if there is no space. */
struct hqm_cell *lane_cell(struct lane *lane, struct place place, uint32_t event, uint32_t thread);

/* The record of the region that is opened at a place, told apart by `name` and the present thread; made, with its node,
 * if it is new. NULL if there is no space. */
struct hqm_region *lane_region(struct lane *lane, struct place at, uint64_t name, uint32_t thread);

/* The record of messages between a place, by a thread, and a rank or group, made if it is new; it stays where it is.
 * NULL if there is no space. */
struct hqm_message *lane_message(struct lane *lane, struct place place, int32_t peer, uint32_t group, uint32_t thread);

/* Stores a record behind the last one of the trace, where there is room for it. */
static inline void lane_trace_append(struct lane *lane, uint32_t node, uint32_t event, uint64_t weight,
                                     uint64_t time_us)
{
    struct hqm_trace *record = (struct hqm_trace *)lane->trace.next;

    record->node = node;
    record->time_low = (uint32_t)time_us;
    record->time_high = (uint16_t)(time_us >> 32);
    record->weight_event = (uint16_t)(weight << 4 | event);
    lane->trace.next += sizeof *record;
    __atomic_store_n(&lane->trace.segment->count, ++lane->trace.count, __ATOMIC_RELEASE);
}

/* As lane_trace, which comes here if the segment is full or the weight too large for one record. */
bool lane_trace_far(struct lane *lane, uint32_t node, uint32_t event, uint64_t weight, uint64_t time_us);

/* Appends to the trace; `weight` may be any number. A time before that of the last record is taken as that. False if
 * there is no space. */
static inline bool lane_trace(struct lane *lane, uint32_t node, uint32_t event, uint64_t weight, uint64_t time_us)
{
    if (time_us < lane->traced_us)
        time_us = lane->traced_us;
    if (weight > HQM_WEIGHT_MAX || lane->trace.count >= lane->trace.capacity)
        return lane_trace_far(lane, node, event, weight, time_us);
    lane->traced_us = time_us;
    lane_trace_append(lane, node, event, weight, time_us);
    return true;
}

#endif
