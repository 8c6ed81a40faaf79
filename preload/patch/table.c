/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the addresses that have a breakpoint (patch.h), and the slots in which replaced instructions run. */
#include "preload/patch/patch.h"

#include "preload/hot.h"
#include "preload/patch/original.h"
#include "preload/raw.h"

#include <string.h>

enum { AREAS = 1024, PAGE = 4096, RETRIES = 512 };
#define REACH (1ull << 30) /* a distance of 32 bits from anywhere in the module, with room to spare */

/* A slot: a copy of the instruction and a jump back; behind them the address of the original instruction, and its
 * length. */
struct slot {
    uint8_t code[40];
    uint64_t original;
    uint64_t length;
    uint64_t reserved;
};
_Static_assert(sizeof(struct slot) == PATCH_SLOT, "layout");

static struct patch *table;
static uint32_t mask, used;

static struct area {
    _Atomic uint64_t start; /* 0: free */
    uint64_t end, module;
} areas[AREAS];
static _Atomic uint32_t area_count;

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
    for (uint32_t i = 0; i < area_count; i++) {
        uint64_t at = areas[i].start;

        if (at && areas[i].module >= start && areas[i].module < end) {
            atomic_store(&areas[i].start, 0);
            raw_munmap((void *)at, areas[i].end - at);
        }
    }
}

static bool is_near(uint64_t at, uint64_t start, uint64_t end)
{
    return at && (at > start ? at - start : start - at) < REACH && (at > end ? at - end : end - at) < REACH;
}

/* The kernel takes an address that is free; what it gives elsewhere is given back. */
static uint64_t take_near(uint64_t start, uint64_t end, uint64_t bytes)
{
    for (uint64_t i = 1, distance = 16 * PAGE; i < RETRIES; i++, distance += i * 4 * PAGE) {
        for (int below = 0; below < 2; below++) {
            uint64_t wish = below ? start - distance - bytes : end + distance;
            uint64_t at = (uint64_t)raw_syscall(SYS_mmap, (long)(wish & ~(PAGE - 1ull)), (long)bytes,
                                                PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

            if (at > -4096ull)
                return 0;
            if (is_near(at, start, end))
                return at;
            raw_munmap((void *)at, bytes);
        }
    }
    return 0;
}

static struct area *free_area(void)
{
    for (uint32_t i = 0; i < area_count; i++)
        if (!areas[i].start)
            return &areas[i];
    return area_count < AREAS ? &areas[area_count++] : NULL;
}

static uint64_t bytes_of(uint32_t count)
{
    return ((uint64_t)count * PATCH_SLOT + PAGE - 1) & ~(PAGE - 1ull);
}

uint64_t patch_slots_take(uint64_t start, uint64_t end, uint32_t count)
{
    uint64_t bytes = bytes_of(count), at = take_near(start, end, bytes);
    struct area *area = at ? free_area() : NULL;

    if (at && !area)
        raw_munmap((void *)at, bytes);
    if (!area)
        return 0;
    area->end = at + bytes;
    area->module = start;
    atomic_store(&area->start, at);
    return at;
}

void patch_slot_fill(uint64_t at, uint64_t address, const struct hqp_place *place)
{
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0}; /* to the address behind it */
    struct slot *slot = (struct slot *)at;
    uint64_t back = address + place->length;
    uint8_t *end = slot->code + place->length;

    memcpy(slot->code, place->code, place->length);
    if (place->operand) {
        int32_t distance;
        memcpy(&distance, place->code + place->operand, sizeof distance);
        distance = (int32_t)((int64_t)distance + (int64_t)(address - at));
        memcpy(slot->code + place->operand, &distance, sizeof distance);
    }
    memcpy(end, jump, sizeof jump);
    memcpy(end + sizeof jump, &back, sizeof back);
    slot->original = address;
    slot->length = place->length;
}

bool patch_slots_close(uint64_t slots, uint32_t count)
{
    return raw_syscall(SYS_mprotect, (long)slots, (long)bytes_of(count), PROT_READ | PROT_EXEC, 0, 0, 0) == 0;
}

COLD uint64_t patch_original_of(uint64_t pc)
{
    uint32_t count = atomic_load_explicit(&area_count, memory_order_relaxed);

    for (uint32_t i = 0; i < count; i++) {
        uint64_t start = atomic_load_explicit(&areas[i].start, memory_order_acquire);

        if (start && pc >= start && pc < areas[i].end) {
            const struct slot *slot = (const struct slot *)(start + (pc - start) / PATCH_SLOT * PATCH_SLOT);
            return (pc - start) % PATCH_SLOT ? slot->original + slot->length : slot->original;
        }
    }
    return pc;
}
