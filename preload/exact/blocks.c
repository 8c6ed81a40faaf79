/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/exact/blocks.h"

#include "preload/raw.h"
#include "preload/sources/exact.h"

#include <stdatomic.h>

/* A part begins with a page. */
enum { PARTS = 64, FIRST = 128 };

/* Blocks of so many bytes of memory stand side by side: what is allocated together is given back together, and each
 * line of the table that is in no cache costs more than all else here. Few enough that full ones do not push each other
 * far. */
enum { GRANULE_LOG2 = 8, GRAIN_LOG2 = 5 };

struct entry {
    uintptr_t block;
    uint64_t bytes;
    struct hqm_cell *cell;
};

/* Open addressing with backward-shift deletion; one lock each. */
struct part {
    _Atomic unsigned holder; /* 0: free; otherwise the epoch + 1 of the process that holds it */
    unsigned epoch;
    struct entry *entries;
    size_t mask, used;
} __attribute__((aligned(64)));

static struct part parts[PARTS];

static uint64_t hash(uintptr_t block)
{
    return (block >> GRANULE_LOG2) * 0x9e3779b97f4a7c15u;
}

static struct part *enter(uintptr_t block)
{
    struct part *p = &parts[hash(block) >> 58];
    unsigned epoch = hq_exact_epoch();

    /* A holder of another epoch was a thread of the parent process, which does not exist here. */
    for (unsigned holder = 0; !atomic_compare_exchange_weak(&p->holder, &holder, epoch + 1);)
        if (holder == epoch + 1) {
            holder = 0;
            raw_frozen = hq_exact_frozen();
            raw_yield();
        }
    if (p->epoch != epoch) {
        /* After a fork the cells are the parent's. */
        if (p->entries)
            raw_munmap(p->entries, (p->mask + 1) * sizeof *p->entries);
        p->entries = NULL;
        p->mask = p->used = 0;
        p->epoch = epoch;
    }
    return p;
}

static void leave(struct part *p)
{
    atomic_store_explicit(&p->holder, 0, memory_order_release);
}

static size_t home(size_t mask, uintptr_t block)
{
    return ((hash(block) >> 24) + (block >> GRAIN_LOG2 & ((1 << (GRANULE_LOG2 - GRAIN_LOG2)) - 1))) & mask;
}

static struct entry *find(const struct part *p, uintptr_t block)
{
    size_t at = home(p->mask, block);

    while (p->entries[at].block && p->entries[at].block != block)
        at = (at + 1) & p->mask;
    return &p->entries[at];
}

static bool room(struct part *p)
{
    struct part bigger = {.mask = p->entries ? p->mask * 2 + 1 : FIRST - 1};

    if (p->entries && p->used < (p->mask + 1) / 8 * 5)
        return true;
    raw_frozen = hq_exact_frozen();
    bigger.entries = raw_memory((bigger.mask + 1) * sizeof *bigger.entries);
    if (!bigger.entries)
        return false;
    for (size_t i = 0; p->entries && i <= p->mask; i++)
        if (p->entries[i].block)
            *find(&bigger, p->entries[i].block) = p->entries[i];
    if (p->entries)
        raw_munmap(p->entries, (p->mask + 1) * sizeof *p->entries);
    p->entries = bigger.entries;
    p->mask = bigger.mask;
    return true;
}

/* Size and place of the table may be about to change: then another line is asked for. */
void blocks_expect(const void *block)
{
    const struct part *p = &parts[hash((uintptr_t)block) >> 58];
    const struct entry *entries = __atomic_load_n(&p->entries, __ATOMIC_RELAXED);
    size_t mask = __atomic_load_n(&p->mask, __ATOMIC_RELAXED);

    __builtin_prefetch(entries + home(mask, (uintptr_t)block), 1);
}

void blocks_add(void *block, size_t bytes, struct hqm_cell *cell)
{
    struct part *p = enter((uintptr_t)block);

    if (room(p)) {
        struct entry *entry = find(p, (uintptr_t)block);
        p->used += entry->block == 0;
        *entry = (struct entry){(uintptr_t)block, bytes, cell};
    }
    leave(p);
}

/* Closes the gap: entries that were pushed past it move back. */
static void close_gap(struct part *p, size_t gap)
{
    for (size_t at = (gap + 1) & p->mask; p->entries[at].block; at = (at + 1) & p->mask) {
        size_t wanted = home(p->mask, p->entries[at].block);
        if (((at - wanted) & p->mask) >= ((at - gap) & p->mask)) {
            p->entries[gap] = p->entries[at];
            gap = at;
        }
    }
    p->entries[gap].block = 0;
}

bool blocks_remove(void *block, size_t *bytes, struct hqm_cell **cell)
{
    struct part *p = enter((uintptr_t)block);
    struct entry *entry = p->entries ? find(p, (uintptr_t)block) : NULL;
    bool found = entry && entry->block;

    if (found) {
        *bytes = entry->bytes;
        *cell = entry->cell;
        p->used--;
        close_gap(p, (size_t)(entry - p->entries));
    }
    leave(p);
    return found;
}
