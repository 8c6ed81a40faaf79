/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/recipe.h"

#include <stdatomic.h>

/*
 * A recipe in 64 bits: kind 4, module 16, CFA offset 22, rbp offset 22, both offsets in units of 8 bytes.
 * 2048 slots are 32 KiB: what the measured program does between two samples evicts a larger table from the caches anyway.
 */
enum { SLOTS_LOG2 = 11, OFFSET_BITS = 22, OFFSET_MAX = 1 << (OFFSET_BITS - 1) };

struct slot { _Atomic uint64_t check, recipe; };

static struct slot slots[1 << SLOTS_LOG2] __attribute__((aligned(64)));
static _Atomic uint32_t generation;

static uint64_t pack(const struct recipe *r)
{
    const uint64_t mask = (1 << OFFSET_BITS) - 1;

    return (uint64_t)r->kind | (uint64_t)r->module << 4 | ((uint64_t)(r->cfa / 8) & mask) << 20 |
           ((uint64_t)(r->rbp / 8) & mask) << 42;
}

static struct recipe unpack(uint64_t packed)
{
    return (struct recipe){
        .kind = packed & 15,
        .module = packed >> 4 & 0xffff,
        .cfa = (int32_t)((int64_t)(packed << 22) >> 42) * 8,
        .rbp = (int32_t)((int64_t)packed >> 42) * 8,
    };
}

static bool packs(int32_t offset)
{
    return offset % 8 == 0 && offset / 8 < OFFSET_MAX && offset / 8 >= -OFFSET_MAX;
}

/* The two common shapes of a row; everything else is left to the general step, which reads the row again. */
static enum recipe_kind classify(const struct cfi *cfi, struct recipe *r)
{
    const struct cfi_row *row = &cfi->row;

    if (row->rule[CFI_RIP] == CFI_UNDEFINED)
        return RECIPE_END;
    if (cfi->signal_frame || row->cfa_rule != CFI_REGISTER || row->rule[CFI_RIP] != CFI_OFFSET ||
        row->value[CFI_RIP] != -8 || row->rule[CFI_RSP] != CFI_SAME || !packs(row->cfa_value))
        return RECIPE_GENERAL;
    r->cfa = row->cfa_value;
    if (row->rule[CFI_RBP] == CFI_OFFSET && packs(row->value[CFI_RBP]) && row->value[CFI_RBP] < -8)
        r->rbp = row->value[CFI_RBP];
    else if (row->rule[CFI_RBP] != CFI_SAME && row->rule[CFI_RBP] != CFI_UNDEFINED)
        return RECIPE_GENERAL;
    if (row->cfa_register == CFI_RSP)
        return r->cfa >= 8 ? RECIPE_RSP : RECIPE_GENERAL;
    return row->cfa_register == CFI_RBP ? RECIPE_RBP : RECIPE_GENERAL;
}

static struct recipe compute(uint64_t address, struct cfi *scratch)
{
    struct recipe r = { .kind = RECIPE_NONE };
    struct code code;

    if (!modules_find(address, &code))
        return r;
    r.module = code.module;
    if (cfi_find(address, &code, scratch))
        r.kind = classify(scratch, &r);
    else
        r.kind = modules_is_text(code.module, address) ? RECIPE_NO_CFI : RECIPE_BAD;
    return r;
}

struct recipe recipe_find(uint64_t address, struct cfi *scratch)
{
    uint32_t now = atomic_load_explicit(&generation, memory_order_acquire);
    uint64_t key = address | (uint64_t)now << 48, packed;
    struct slot *slot = &slots[address * 0x9e3779b97f4a7c15u >> (64 - SLOTS_LOG2)];
    struct recipe r;

    packed = atomic_load_explicit(&slot->recipe, memory_order_relaxed);
    if (packed && (atomic_load_explicit(&slot->check, memory_order_relaxed) ^ packed) == key)
        return unpack(packed);
    r = compute(address, scratch);
    if (r.kind == RECIPE_NONE)
        return r;       /* tomorrow there may be code here: not kept */
    packed = pack(&r);
    atomic_store_explicit(&slot->recipe, packed, memory_order_relaxed);
    atomic_store_explicit(&slot->check, packed ^ key, memory_order_relaxed);
    return r;
}

void recipe_forget_all(void)
{
    atomic_fetch_add(&generation, 1);
}

uint32_t recipe_generation(void)
{
    return atomic_load_explicit(&generation, memory_order_acquire);
}
