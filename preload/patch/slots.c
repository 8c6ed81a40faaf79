/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/patch/slots.h"

#include "preload/hot.h"
#include "preload/patch/jump.h"
#include "preload/patch/original.h"
#include "preload/raw.h"

#include <stdatomic.h>
#include <string.h>

enum { AREAS = 1024, PAGE = 4096, RETRIES = 512 };
#define REACH (1ull << 30) /* a distance of 32 bits from anywhere in the module, with room to spare */

static struct area {
    _Atomic uint64_t start; /* 0: free */
    uint64_t end, module;
} areas[AREAS];
static _Atomic uint32_t area_count;

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
    return ((uint64_t)count * SLOT_BYTES + PAGE - 1) & ~(PAGE - 1ull);
}

uint64_t slots_take(uint64_t start, uint64_t end, uint32_t count)
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

bool slots_close(uint64_t slots, uint32_t count)
{
    return raw_syscall(SYS_mprotect, (long)slots, (long)bytes_of(count), PROT_READ | PROT_EXEC, 0, 0, 0) == 0;
}

void slots_drop(uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; i < area_count; i++) {
        uint64_t at = areas[i].start;

        if (at && areas[i].module >= start && areas[i].module < end) {
            atomic_store(&areas[i].start, 0);
            raw_munmap((void *)at, areas[i].end - at);
        }
    }
}

/* ---- filling ---- */

static uint8_t *add(uint8_t *at, const void *code, size_t bytes)
{
    memcpy(at, code, bytes);
    return at + bytes;
}

static uint8_t *add_jump(uint8_t *at, uint64_t to)
{
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0}; /* to the address behind it */

    return add(add(at, jump, sizeof jump), &to, sizeof to);
}

/* A distance of memory in code that is `moved` bytes further on than it was. */
static void mend_distance(uint8_t *at, uint64_t moved)
{
    int32_t distance;

    memcpy(&distance, at, sizeof distance);
    distance = (int32_t)((int64_t)distance - (int64_t)moved);
    memcpy(at, &distance, sizeof distance);
}

void slot_fill_behind_breakpoint(uint64_t at, uint64_t base, const struct hqp_place *p)
{
    struct slot *slot = (struct slot *)at;
    uint64_t address = base + p->address;

    *slot = (struct slot){.original = address, .place = p, .behind = p->length};
    uint8_t *end = add(slot->code, p->code, p->length);
    if (p->operand)
        mend_distance(slot->code + p->operand, at - address);
    add_jump(end, address + p->length);
}

void slot_fill_behind_jump(uint64_t at, uint64_t base, const struct hqp_place *p)
{
    static const uint8_t below[] = {0x48, 0x8d, 0x64, 0x24, 0x80}, above[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};
    struct slot *slot = (struct slot *)at;
    uint8_t call[] = {0xff, 0x15, 0, 0, 0, 0}, *end;
    uint64_t jump = base + p->jump;
    int32_t distance;

    *slot = (struct slot){.stub = (uint64_t)patch_stub, .original = base + p->address, .place = p};
    slot->before = (uint8_t)(p->address - p->jump);
    end = add(add(slot->code, p->moved, slot->before), below, sizeof below);
    slot->called = (uint8_t)(end - slot->code);
    distance = (int32_t)((uint8_t *)&slot->stub - (end + sizeof call));
    memcpy(call + 2, &distance, sizeof distance);
    end = add(add(end, call, sizeof call), above, sizeof above);
    slot->done = (uint8_t)(end - slot->code);
    if (p->form == HQP_JUMP && p->flags & HQP_EXIT) {
        add_jump(end, base + p->target);
    } else {
        slot->behind = (uint8_t)(p->taken - slot->before);
        end = add(end, p->moved + slot->before, slot->behind);
        if (p->flags & HQP_ENTRY)
            add_jump(end, jump + p->taken);
    }
    if (p->fix)
        mend_distance(slot->code + p->fix + (p->fix < slot->before ? 0 : slot->done - slot->before),
                      at + (p->fix < slot->before ? 0 : slot->done - slot->before) - jump);
}

/* ---- where a thread is ---- */

static COLD void leave_slot(const struct slot *slot, uint64_t reg[CFI_REGISTERS])
{
    uint64_t at = reg[CFI_PC] - (uint64_t)slot->code, in_place = 0;

    if (slot->stub && at < slot->before) {
        reg[CFI_PC] = slot->original - slot->before + at;
        return;
    }
    if (at >= slot->called && at < slot->done && slot->stub)
        reg[CFI_SP] += SLOT_ZONE;
    if (at > slot->done)
        in_place = at - slot->done < slot->behind ? at - slot->done : slot->behind;
    reg[CFI_PC] = slot->original + in_place;
}

COLD void patch_leave_slots(uint64_t reg[CFI_REGISTERS])
{
    uint32_t count = atomic_load_explicit(&area_count, memory_order_relaxed);
    uint64_t pc = reg[CFI_PC];

    for (uint32_t i = 0; i < count; i++) {
        uint64_t start = atomic_load_explicit(&areas[i].start, memory_order_acquire);

        if (start && pc >= start && pc < areas[i].end) {
            leave_slot(slot_of_call(pc), reg);
            return;
        }
    }
}
