/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the addresses that have a breakpoint (patch.h). */
#include "preload/patch/patch.h"

#include "preload/hot.h"
#include "preload/patch/slots.h"
#include "preload/raw.h"

static struct patch *table;
static uint32_t mask, used;

bool patch_table_make(uint32_t places)
{
    uint64_t capacity = 64;

    while (capacity < places * 4ull)
        capacity *= 2;
    table = raw_memory(capacity * sizeof *table);
    mask = (uint32_t)capacity - 1;
    return table != NULL;
}

static HOT uint32_t start_of(uint64_t address)
{
    return (uint32_t)(address * 0x9e3779b97f4a7c15u >> 32) & mask;
}

HOT const struct patch *patch_find(uint64_t address)
{
    for (uint32_t i = start_of(address); table; i = (i + 1) & mask) {
        uint64_t there = atomic_load_explicit(&table[i].address, memory_order_acquire);

        if (there == address)
            return atomic_load_explicit(&table[i].place, memory_order_acquire) ? &table[i] : NULL;
        if (!there)
            break;
    }
    return NULL;
}

const struct patch *patch_next(const struct patch *before)
{
    for (const struct patch *at = before ? before + 1 : table; table && at <= table + mask; at++)
        if (at->address && at->place)
            return at;
    return NULL;
}

bool patch_put(const struct patch *patch)
{
    uint32_t i = start_of(patch->address);

    while (table[i].address && table[i].address != patch->address)
        i = (i + 1) & mask;
    if (!table[i].address && ++used > mask / 2)
        return false;
    table[i].base = patch->base;
    table[i].slot = patch->slot;
    atomic_store(&table[i].place, patch->place);
    atomic_store(&table[i].address, patch->address);
    return true;
}

void patch_remove(uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; i <= mask; i++)
        if (table[i].address >= start && table[i].address < end)
            atomic_store(&table[i].place, NULL);
    slots_drop(start, end);
}
