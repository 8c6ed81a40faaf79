/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/sources/device_trace.h"

#include "common/hash.h"
#include "preload/file/file.h"
#include "preload/lock.h"
#include "preload/options.h"
#include "preload/file/ring.h"

#include <string.h>

enum { SEGMENT = 4 * HQM_ALIGN, FIRST_SLOTS = 1024 };

/* Records of one kind, of which there may be only so many. */
struct tail {
    struct ring ring;
    struct hqm_segment *newest;
};

/* With the lock, which is taken for bounded files alone. */
static _Atomic unsigned lock;
static struct tail commands, waits;
static struct {
    struct hqm_command_sum **slots;
    uint32_t room, used;
} sums;

/* ---- sums ---- */

/* Where the sum of the key is, or has a place, among `room` slots. */
static struct hqm_command_sum **slot_of(struct hqm_command_sum **slots, uint32_t room,
                                        const struct hqm_command_sum *key)
{
    const uint32_t words[] = {key->lane, key->node, key->thread, key->queue, key->kind};

    for (uint32_t at = (uint32_t)hash_bytes(words, sizeof words, 0);; at++) {
        struct hqm_command_sum **slot = &slots[at & (room - 1)], *s = *slot;

        if (!s || (s->lane == key->lane && s->node == key->node && s->thread == key->thread && s->queue == key->queue &&
                   s->kind == key->kind))
            return slot;
    }
}

static bool grow_sums(void)
{
    uint32_t before = sums.room, room = before ? before * 2 : FIRST_SLOTS;
    struct hqm_command_sum **old = sums.slots, **more = raw_memory(room * sizeof *more);

    if (!more)
        return false;
    for (uint32_t i = 0; i < before; i++)
        if (old[i])
            *slot_of(more, room, old[i]) = old[i];
    if (old)
        raw_munmap(old, before * sizeof *old);
    sums.slots = more;
    sums.room = room;
    return true;
}

static struct hqm_command_sum *sum_of(const struct hqm_command *c)
{
    const struct hqm_command_sum key = {
        .lane = c->lane, .node = c->node, .thread = c->thread, .queue = c->queue, .kind = c->kind};
    struct hqm_command_sum **slot;
    struct claim claim;

    if (sums.used >= sums.room / 4 * 3 && !grow_sums() && sums.used + 1 >= sums.room)
        return NULL;
    slot = slot_of(sums.slots, sums.room, &key);
    if (!*slot && (*slot = file_claim(HQM_SUMS, 1, &claim))) {
        **slot = key;
        file_publish(&claim);
        sums.used++;
    }
    return *slot;
}

/* One by one, so the death of the process meanwhile loses one or counts one twice. */
static uint64_t fold(struct hqm_segment *segment)
{
    const struct hqm_command *records = (const struct hqm_command *)(segment + 1);
    uint64_t until = 0;

    for (uint32_t i = segment->count; i-- > 0;) {
        const struct hqm_command *c = &records[i];
        struct hqm_command_sum *s = sum_of(c);

        until = c->seen_ns > until ? c->seen_ns : until;
        __atomic_store_n(&segment->count, i, __ATOMIC_RELEASE);
        if (!s) {
            file_lost(HQM_LOSS_NO_SPACE, 1);
            continue;
        }
        s->commands++;
        s->timed += c->end_ns > c->start_ns;
        s->moving += c->bytes > 0;
        s->working += c->items > 0;
        s->time_ns += c->end_ns > c->start_ns ? c->end_ns - c->start_ns : 0;
        s->bytes += c->bytes;
        s->items += c->items;
    }
    return until;
}

/* ---- records ---- */

static uint64_t last_wait(const struct hqm_segment *segment)
{
    const struct hqm_host *records = (const struct hqm_host *)(segment + 1);

    return segment->count ? records[segment->count - 1].to_ns : 0;
}

static struct hqm_segment *turn(struct tail *t, enum hqm_kind kind)
{
    struct hqm_segment *oldest = ring_oldest(&t->ring);
    uint32_t count = oldest->count;
    uint64_t start = file_header()->start_monotonic_ns, until = kind == HQM_COMMANDS ? fold(oldest) : last_wait(oldest);

    return ring_turn(&t->ring, t->newest, count, until > start ? (until - start) / 1000 : 0);
}

/* The next free record, not yet counted. */
static void *next(struct tail *t, enum hqm_kind kind, uint16_t size)
{
    struct hqm_segment *newest = t->newest, *more;

    if (newest && newest->count < newest->capacity)
        return (char *)(newest + 1) + (size_t)newest->count * size;
    more = ring_may_grow(&t->ring, SEGMENT)
               ? file_segment(kind, size, 0, newest ? newest->first + newest->capacity : 0, SEGMENT)
               : NULL;
    if (more && !ring_add(&t->ring, more))
        return NULL;
    if (!more && t->ring.count < 2)
        return NULL;
    t->newest = more ? more : turn(t, kind);
    return t->newest + 1;
}

static bool add(struct tail *t, enum hqm_kind kind, const void *record, uint16_t size)
{
    struct claim claim;
    void *to;

    if (!options.max_size) {
        to = file_claim(kind, 1, &claim);
        if (to) {
            memcpy(to, record, size);
            file_publish(&claim);
        }
        return to;
    }
    lock_take(&lock);
    to = next(t, kind, size);
    if (to) {
        memcpy(to, record, size);
        __atomic_store_n(&t->newest->count, t->newest->count + 1, __ATOMIC_RELEASE);
    }
    lock_release(&lock);
    return to;
}

bool device_trace_command(const struct hqm_command *record)
{
    return add(&commands, HQM_COMMANDS, record, sizeof *record);
}

bool device_trace_host(const struct hqm_host *record)
{
    return add(&waits, HQM_HOST, record, sizeof *record);
}

void device_trace_forget(void)
{
    lock_release(&lock); /* another thread of the parent may have had it */
    ring_deinit(&commands.ring);
    ring_deinit(&waits.ring);
    commands.newest = waits.newest = NULL;
    if (sums.slots)
        raw_munmap(sums.slots, sums.room * sizeof *sums.slots);
    sums.slots = NULL;
    sums.room = sums.used = 0;
}
