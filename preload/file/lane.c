/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/file/lane.h"

#include "preload/hot.h"
#include "preload/kernel.h"
#include "preload/options.h"
#include "preload/raw.h"

#include <stdatomic.h>
#include <string.h>

enum { LANES_MAX = 65536, FIRST_BYTES = 8192, LARGEST_BYTES = 1 << 20, FIRST_SLOTS = 512, RESERVED_SLOTS = 32768 };
enum { CELL_KIND = 255u << HQM_MODULE_BITS, MESSAGE_KIND = 254u << HQM_MODULE_BITS };

static _Atomic(struct lane *) lanes[LANES_MAX];
static _Atomic uint32_t used;   /* numbers given out */
static _Atomic uint32_t vacant; /* how many of them have no owner; may be too many for a moment */

static COLD bool column_grow(struct column *c)
{
    uint32_t first = c->segment ? c->segment->first + c->segment->capacity : 0;
    struct hqm_segment *segment = file_segment((enum hqm_kind)c->kind, c->record_size, c->lane, first, c->next_bytes);

    if (!segment && c->next_bytes > HQM_ALIGN)
        segment = file_segment((enum hqm_kind)c->kind, c->record_size, c->lane, first, HQM_ALIGN);
    if (!segment)
        return false;
    c->segment = segment;
    c->next = (char *)(segment + 1);
    c->count = 0;
    c->capacity = segment->capacity;
    if (c->next_bytes < LARGEST_BYTES)
        c->next_bytes *= 2;
    return true;
}

/* Counts the record that column_next gave. */
static inline void column_publish(struct column *c)
{
    c->next += c->record_size;
    __atomic_store_n(&c->segment->count, ++c->count, __ATOMIC_RELEASE);
}

/* ---- traces of a bounded size ---- */

/* The records of the oldest segment make room. */
static void turn(struct lane *lane)
{
    struct column *c = &lane->trace;
    const struct hqm_segment *oldest = ring_oldest(&lane->ring);
    const struct hqm_trace *last = (const struct hqm_trace *)(oldest + 1) + oldest->count - 1;

    c->segment = ring_turn(&lane->ring, c->segment, oldest->count, (uint64_t)last->time_high << 32 | last->time_low);
    c->next = (char *)(c->segment + 1);
    c->count = 0;
    c->capacity = c->segment->capacity;
}

/* Each segment begins with the thread, since those before it may go. */
static COLD bool trace_grow(struct lane *lane, uint64_t time_us)
{
    struct ring *r = &lane->ring;
    struct column *c = &lane->trace;

    if (!options.max_size)
        return column_grow(c);
    if (!ring_has_room(c->next_bytes))
        c->next_bytes = HQM_ALIGN;
    if (!ring_may_grow(r, c->next_bytes) || !column_grow(c)) {
        if (r->count < 2)
            return false;
        turn(lane);
    } else if (!ring_add(r, c->segment)) {
        return false;
    }
    *(struct hqm_trace *)c->next = (struct hqm_trace){.node = lane->owner,
                                                      .time_low = (uint32_t)time_us,
                                                      .time_high = (uint16_t)(time_us >> 32),
                                                      .weight_event = 1u << 4 | HQM_TRACE_THREAD};
    column_publish(c);
    return true;
}

/* ---- lookup ---- */

/* The next free record, not yet counted; NULL if there is no space. */
static inline void *column_next(struct column *c)
{
    return c->count < c->capacity || column_grow(c) ? c->next : NULL;
}

static HOT struct lookup_slot *lookup_find(const struct lookup *l, uint32_t path, uint32_t parent, uint32_t kind,
                                           uint64_t offset)
{
    for (uint32_t at = path;; at++) {
        struct lookup_slot *slot = &l->slots[at & l->mask];
        if (!slot->number || (slot->offset == offset && slot->parent == parent && slot->kind == kind))
            return slot;
    }
}

/* The slot of a node that is there. */
static HOT struct lookup_slot *lookup_node(const struct lookup *l, struct place place)
{
    for (uint32_t at = place.path;; at++) {
        struct lookup_slot *slot = &l->slots[at & l->mask];
        if (slot->number == place.node + 1 || !slot->number)
            return slot;
    }
}

/* The slots keep their order, so old and new ones are each gone through from one end to the other. */
static bool lookup_grow(struct lookup *l, uint32_t slots)
{
    struct lookup bigger = {.mask = slots - 1, .used = l->used};

    bigger.slots = raw_memory((bigger.mask + 1) * sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    /* All pages will be used; one by one they cost more than all else here. Older kernels refuse. */
    raw_madvise(bigger.slots, (bigger.mask + 1) * sizeof *bigger.slots, MADV_POPULATE_WRITE);
    for (uint32_t i = 0; l->slots && i <= l->mask; i++)
        if (l->slots[i].number)
            *lookup_find(&bigger, l->slots[i].path, l->slots[i].parent, l->slots[i].kind,
                         l->slots[i].offset) = l->slots[i];
    if (l->slots)
        raw_munmap(l->slots, (l->mask + 1) * sizeof *l->slots);
    *l = bigger;
    return true;
}

/* Makes room for one more: doubles the table when five eighths are used, and without memory fills it up further. */
static COLD bool lookup_room(struct lookup *l)
{
    if (!l->slots)
        return lookup_grow(l, FIRST_SLOTS);
    if (l->used < (l->mask + 1) / 8 * 5)
        return true;
    return lookup_grow(l, (l->mask + 1) * 2) || l->used < l->mask - l->mask / 8;
}

void lane_reserve(struct lane *lane)
{
    if (lane->lookup.mask < RESERVED_SLOTS)
        lookup_grow(&lane->lookup, RESERVED_SLOTS);
}

/* A slot for what has none; there must be room. */
static struct lookup_slot *lookup_add(struct lookup *l, uint32_t path, uint32_t parent, uint32_t kind, uint64_t offset,
                                      uint32_t number)
{
    struct lookup_slot *slot = lookup_find(l, path, parent, kind, offset);

    slot->path = path;
    slot->number = number;
    slot->parent = parent;
    slot->kind = kind;
    slot->offset = offset;
    l->used++;
    return slot;
}

static COLD struct lookup_slot *new_node(struct lane *lane, uint32_t parent, uint32_t path, uint32_t kind_module,
                                         uint64_t offset)
{
    struct lookup_slot *slot;
    struct hqm_node *node;

    if (!lookup_room(&lane->lookup) || !(node = column_next(&lane->nodes)))
        return NULL;
    node->parent = parent;
    node->kind_module = kind_module;
    node->offset = offset;
    slot = lookup_add(&lane->lookup, path, parent, kind_module, offset,
                      lane->nodes.segment->first + lane->nodes.count + 1);
    column_publish(&lane->nodes);
    return slot;
}

HOT uint32_t lane_child(struct lane *lane, uint32_t parent, uint32_t path, uint32_t kind_module, uint64_t offset)
{
    struct lookup_slot *slot = lookup_find(&lane->lookup, path, parent, kind_module, offset);

    if (!slot->number && !(slot = new_node(lane, parent, path, kind_module, offset)))
        return NO_NODE;
    return slot->number - 1;
}

static struct hqm_cell *new_cell(struct lane *lane, uint32_t node, uint32_t event, uint32_t thread)
{
    struct hqm_cell *cell = column_next(&lane->cells);

    if (!cell)
        return NULL;
    cell->node = node;
    cell->thread = thread;
    cell->event = event;
    column_publish(&lane->cells);
    return cell;
}

/* The slot that a cell of this name has for itself; made, without a cell, if it is new. */
static struct lookup_slot *own_slot(struct lookup *l, uint32_t node, uint32_t event, uint32_t thread)
{
    uint32_t kind = CELL_KIND | event, path = lane_path(node, kind, thread);
    struct lookup_slot *slot = lookup_find(l, path, node, kind, thread);

    if (slot->number)
        return slot;
    return lookup_room(l) ? lookup_add(l, path, node, kind, thread, UINT32_MAX) : NULL;
}

static COLD struct hqm_cell *find_cell(struct lane *lane, struct place place, uint32_t event, uint32_t thread)
{
    struct lookup_slot *at_node = lookup_node(&lane->lookup, place), *own;
    struct hqm_cell *before = at_node->cell;
    bool at_first = event == 0 && at_node->number; /* the root has no slot */

    if (at_first && !before)
        return at_node->cell = new_cell(lane, place.node, event, thread);
    if (at_first) {
        own = own_slot(&lane->lookup, place.node, event, before->thread);
        if (!own)
            return NULL;
        own->cell = before;
    }
    own = own_slot(&lane->lookup, place.node, event, thread);
    if (!own)
        return NULL;
    if (!own->cell)
        own->cell = new_cell(lane, place.node, event, thread);
    if (at_first && own->cell)
        lookup_node(&lane->lookup, place)->cell = own->cell;
    return own->cell;
}

HOT struct hqm_cell *lane_cell(struct lane *lane, struct place place, uint32_t event, uint32_t thread)
{
    struct hqm_cell *cell = event ? NULL : lookup_node(&lane->lookup, place)->cell;

    return cell && cell->thread == thread ? cell : find_cell(lane, place, event, thread);
}

struct hqm_region *lane_region(struct lane *lane, struct place at, uint64_t name, uint32_t thread)
{
    const uint32_t kind = (uint32_t)HQM_NODE_REGION << HQM_MODULE_BITS;
    uint64_t offset = name ^ (uint64_t)thread << 47; /* addresses of programs have 47 bits */
    uint32_t path = lane_path(at.path, kind, offset);
    struct lookup_slot *slot = lookup_find(&lane->lookup, path, at.node, kind, offset);

    if (!slot->number && !(slot = new_node(lane, at.node, path, kind, offset)))
        return NULL;
    if (!slot->region) {
        struct hqm_region *region = column_next(&lane->regions);
        if (!region)
            return NULL;
        region->node = slot->number - 1;
        region->thread = thread;
        column_publish(&lane->regions);
        slot->region = region;
    }
    return slot->region;
}

struct hqm_message *lane_message(struct lane *lane, struct place place, int32_t peer, uint32_t group, uint32_t thread)
{
    struct lookup *l = &lane->lookup;
    /* Groups are offsets of texts, of which those beyond 16 MB have no number here. */
    uint32_t kind = MESSAGE_KIND | group, path;
    uint64_t offset = (uint64_t)thread << 32 | (uint32_t)peer;
    struct lookup_slot *slot;

    if (group >> HQM_MODULE_BITS)
        return NULL;
    path = lane_path(place.path, kind, offset);
    slot = lookup_find(l, path, place.node, kind, offset);
    if (!slot->number && !(slot = lookup_room(l) ? lookup_add(l, path, place.node, kind, offset, UINT32_MAX) : NULL))
        return NULL;
    if (!slot->message) {
        struct hqm_message *message = column_next(&lane->messages);
        if (!message)
            return NULL;
        message->node = place.node;
        message->thread = thread;
        message->peer = peer;
        message->group = group;
        column_publish(&lane->messages);
        slot->message = message;
    }
    return slot->message;
}

COLD bool lane_trace_far(struct lane *lane, uint32_t node, uint32_t event, uint64_t weight, uint64_t time_us)
{
    lane->traced_us = time_us;
    do {
        uint64_t part = weight > HQM_WEIGHT_MAX ? HQM_WEIGHT_MAX : weight;

        if (lane->trace.count >= lane->trace.capacity && !trace_grow(lane, time_us))
            return false;
        lane_trace_append(lane, node, event, part, time_us);
        weight -= part;
    } while (weight);
    return true;
}

/*
 * The memory that a sample touches lies close together: the lane, scratch space and the first of the fresh frames
 * behind it, then the kept ones. The kernel clears it in a forked child, so that a child that was not announced finds
 * no lane (thread.h).
 */
enum { FRAME_BYTES = (FRAMES_MAX + 2) * sizeof(struct frame) };
enum { CFI_BYTES = (sizeof(struct cfi) + 63) / 64 * 64 };
enum { PATH_BYTES = ((FRAMES_MAX + 2) * sizeof(uint32_t) + 63) / 64 * 64 };
enum { FOLLOW_BYTES = (ARCH_SCRATCH_BYTES + 63) / 64 * 64 };
enum {
    LANE_BYTES = (sizeof(struct lane) + 63) / 64 * 64 + CFI_BYTES + 2 * FRAME_BYTES + PATH_BYTES + FOLLOW_BYTES +
                 sizeof(struct lane_room)
};

static struct lane *lane_memory(void)
{
    struct lane *lane = raw_memory(LANE_BYTES);

    if (lane && raw_madvise(lane, LANE_BYTES, MADV_WIPEONFORK) < 0) {
        raw_munmap(lane, LANE_BYTES);
        return NULL;
    }
    return lane;
}

static bool lane_prepare(struct lane *lane, uint32_t number)
{
    char *memory = (char *)lane + (sizeof *lane + 63) / 64 * 64;
    struct hqm_node *root;

    lane->number = number;
    lane->nodes = (struct column){
        .kind = HQM_NODES, .record_size = sizeof(struct hqm_node), .lane = number, .next_bytes = FIRST_BYTES};
    lane->cells = (struct column){
        .kind = HQM_CELLS, .record_size = sizeof(struct hqm_cell), .lane = number, .next_bytes = FIRST_BYTES};
    lane->trace = (struct column){
        .kind = HQM_TRACE, .record_size = sizeof(struct hqm_trace), .lane = number, .next_bytes = HQM_ALIGN};
    lane->regions = (struct column){
        .kind = HQM_REGIONS, .record_size = sizeof(struct hqm_region), .lane = number, .next_bytes = HQM_ALIGN};
    lane->messages = (struct column){
        .kind = HQM_MESSAGES, .record_size = sizeof(struct hqm_message), .lane = number, .next_bytes = HQM_ALIGN};
    lane->memo.cfi = (struct cfi *)memory;
    lane->memo.fresh = (struct frame *)(memory + CFI_BYTES);
    lane->memo.frames = (struct frame *)(memory + CFI_BYTES + FRAME_BYTES);
    lane->memo.paths = (uint32_t *)(memory + CFI_BYTES + 2 * FRAME_BYTES);
    lane->memo.follow = (struct follow *)(memory + CFI_BYTES + 2 * FRAME_BYTES + PATH_BYTES);
    lane->room = (struct lane_room *)((char *)lane->memo.follow + FOLLOW_BYTES);
    root = lookup_room(&lane->lookup) ? column_next(&lane->nodes) : NULL;
    if (!root)
        return false;
    root->kind_module = (uint32_t)HQM_NODE_ROOT << HQM_MODULE_BITS;
    column_publish(&lane->nodes);
    return true;
}

static void lane_discard(struct lane *lane)
{
    if (lane->lookup.slots)
        raw_munmap(lane->lookup.slots, (lane->lookup.mask + 1) * sizeof *lane->lookup.slots);
    ring_deinit(&lane->ring);
    raw_munmap(lane, LANE_BYTES);
}

/* Before glibc 2.34 the memory of a stack that the program has given, and taken back meanwhile, is emptied when the
 * thread ends, whoever has it now: such a lane is no longer used. */
struct lane *lane_take(void)
{
    uint32_t count = atomic_load(&used), number;
    struct lane *lane;

    for (uint32_t i = 0; atomic_load(&vacant) && i < count && i < LANES_MAX; i++) {
        int expected = 0;
        lane = atomic_load_explicit(&lanes[i], memory_order_acquire);
        if (lane && lane->number == i + 1 && !atomic_load_explicit(&lane->taken, memory_order_relaxed) &&
            atomic_compare_exchange_strong(&lane->taken, &expected, 1)) {
            atomic_fetch_sub(&vacant, 1);
            return lane;
        }
    }
    number = atomic_fetch_add(&used, 1) + 1;
    if (number > LANES_MAX) {
        atomic_fetch_sub(&used, 1);
        return NULL;
    }
    lane = lane_memory();
    if (!lane || !lane_prepare(lane, number)) {
        uint32_t expected = number;
        if (lane)
            lane_discard(lane);
        atomic_compare_exchange_strong(&used, &expected, number - 1);
        return NULL;
    }
    atomic_store(&lane->taken, 1);
    atomic_store_explicit(&lanes[number - 1], lane, memory_order_release);
    return lane;
}

void lane_return(struct lane *lane)
{
    unwind_forget(lane);
    lane->thread = NULL;
    atomic_fetch_add(&vacant, 1);
    atomic_store_explicit(&lane->taken, 0, memory_order_release);
}

bool lane_thread(uint32_t i, const struct hqm_thread **thread)
{
    struct lane *lane = i < LANES_MAX ? atomic_load_explicit(&lanes[i], memory_order_acquire) : NULL;

    *thread = lane && atomic_load_explicit(&lane->taken, memory_order_acquire) ? lane->thread : NULL;
    return i < atomic_load(&used) && i < LANES_MAX;
}

void lane_forget_all(void)
{
    uint32_t count = atomic_exchange(&used, 0);

    atomic_store(&vacant, 0);
    for (uint32_t i = 0; i < count && i < LANES_MAX; i++) {
        struct lane *lane = atomic_exchange(&lanes[i], NULL);
        if (lane)
            lane_discard(lane);
    }
}
