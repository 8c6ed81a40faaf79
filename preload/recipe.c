/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/recipe.h"

#include "preload/hot.h"
#include "preload/loose.h"

#include <assert.h>
#include <stdatomic.h>

/*
 * Code is divided into granules of 256 bytes. A slot holds a recipe and the part of a granule where it is the right one: first and last byte. With the
 * recipe that makes 64 bits: kind 3, module 14, CFA offset 17, how far below the CFA rbp is 14 (both in units of 8 bytes), first 8, last 8.
 * The four slots that a granule may be in are one cache line: what the measured program does between two samples evicts most of the table from the
 * caches, so a look-up has to touch little, while the number of lines hardly matters.
 */
enum { GRANULE_LOG2 = 8, GRANULE = 1 << GRANULE_LOG2, SETS_LOG2 = 11, WAYS = 4 };
enum { KIND_BITS = 3, MODULE_BITS = 14, CFA_BITS = 17, RBP_BITS = 14 };
static_assert(MODULES_NOTED < 1 << MODULE_BITS && RECIPE_LOOSE < 1 << KIND_BITS, "numbers fit");

struct slot { _Atomic uint64_t check, recipe; };

static struct slot slots[1 << SETS_LOG2][WAYS] __attribute__((aligned(64)));
static _Atomic uint32_t generation;

static uint64_t pack(const struct recipe *r, unsigned first, unsigned last)
{
    uint64_t packed = last;

    packed = packed << GRANULE_LOG2 | first;
    packed = packed << RBP_BITS | (uint64_t)(-r->rbp / 8);
    packed = packed << CFA_BITS | (uint64_t)(r->cfa / 8);
    packed = packed << MODULE_BITS | r->module;
    return packed << KIND_BITS | r->kind;
}

static inline struct recipe unpack(uint64_t packed)
{
    struct recipe r = { .kind = packed & ((1 << KIND_BITS) - 1) };

    packed >>= KIND_BITS;
    r.module = packed & ((1 << MODULE_BITS) - 1);
    packed >>= MODULE_BITS;
    r.cfa = (int32_t)(packed & ((1 << CFA_BITS) - 1)) * 8;
    packed >>= CFA_BITS;
    r.rbp = -(int32_t)(packed & ((1 << RBP_BITS) - 1)) * 8;
    return r;
}

/* Is the byte of the granule between first and last? */
static inline bool covers(uint64_t packed, unsigned byte)
{
    packed >>= KIND_BITS + MODULE_BITS + CFA_BITS + RBP_BITS;
    return byte >= (packed & (GRANULE - 1)) && byte <= packed >> GRANULE_LOG2;
}

/* Offsets from the stack or frame pointer to the CFA, and from the CFA down to where rbp was saved. */
static bool packs(int32_t up, int bits)
{
    return up >= 0 && up % 8 == 0 && up / 8 < 1 << bits;
}

/* The two common shapes of a row; everything else is left to the general step, which reads the row again. */
static enum recipe_kind classify(const struct cfi *cfi, struct recipe *r)
{
    const struct cfi_row *row = &cfi->row;

    if (row->rule[CFI_RIP] == CFI_UNDEFINED)
        return RECIPE_END;
    if (cfi->signal_frame || row->cfa_rule != CFI_REGISTER || row->rule[CFI_RIP] != CFI_OFFSET ||
        row->value[CFI_RIP] != -8 || row->rule[CFI_RSP] != CFI_SAME || !packs(row->cfa_value, CFA_BITS))
        return RECIPE_GENERAL;
    r->cfa = row->cfa_value;
    if (row->rule[CFI_RBP] == CFI_OFFSET && packs(-row->value[CFI_RBP], RBP_BITS) && row->value[CFI_RBP] < -8)
        r->rbp = row->value[CFI_RBP];
    else if (row->rule[CFI_RBP] != CFI_SAME && row->rule[CFI_RBP] != CFI_UNDEFINED)
        return RECIPE_GENERAL;
    if (row->cfa_register == CFI_RSP)
        return r->cfa >= 8 ? RECIPE_RSP : RECIPE_GENERAL;
    return row->cfa_register == CFI_RBP ? RECIPE_RBP : RECIPE_GENERAL;
}

static COLD struct recipe compute(uint64_t address, struct cfi *scratch)
{
    struct recipe r = { .kind = RECIPE_NONE };
    struct code code;

    if (!modules_find(address, &code)) {
        r.kind = loose_is_code(address) ? RECIPE_LOOSE : RECIPE_NONE;
        return r;
    }
    r.module = code.module;
    if (cfi_find(address, &code, scratch))
        r.kind = classify(scratch, &r);
    else
        r.kind = modules_is_text(code.module, address) ? RECIPE_NO_CFI : RECIPE_BAD;
    return r;
}

/* The recipe of `address`, and where else in its granule it holds. */
static COLD struct recipe learn(uint64_t address, struct cfi *scratch, struct slot set[WAYS], uint64_t key)
{
    struct recipe r = compute(address, scratch);
    uint64_t granule = address & ~(uint64_t)(GRANULE - 1), first = address, last = address, packed;
    unsigned way = 0;

    if (r.kind == RECIPE_NONE || r.kind == RECIPE_LOOSE)
        return r;       /* tomorrow a module may be here: not kept */
    if (r.kind != RECIPE_NO_CFI && r.kind != RECIPE_BAD) {
        first = scratch->row_start > granule ? scratch->row_start : granule;
        last = scratch->row_end - granule < GRANULE ? scratch->row_end - 1 : granule + GRANULE - 1;
    }
    while (way < WAYS && atomic_load_explicit(&set[way].recipe, memory_order_relaxed))
        way++;
    if (way == WAYS)
        way = address * 0x9e3779b97f4a7c15u >> 62;
    packed = pack(&r, (unsigned)(first - granule), (unsigned)(last - granule));
    atomic_store_explicit(&set[way].recipe, packed, memory_order_relaxed);
    atomic_store_explicit(&set[way].check, packed ^ key, memory_order_relaxed);
    return r;
}

HOT struct recipe recipe_find(uint64_t address, struct cfi *scratch)
{
    uint32_t now = atomic_load_explicit(&generation, memory_order_acquire);
    uint64_t key = address >> GRANULE_LOG2 | (uint64_t)now << 40, packed;
    struct slot *set = slots[(address >> GRANULE_LOG2) * 0x9e3779b97f4a7c15u >> (64 - SETS_LOG2)];

    for (int i = 0; i < WAYS; i++) {
        packed = atomic_load_explicit(&set[i].recipe, memory_order_relaxed);
        if (packed && (atomic_load_explicit(&set[i].check, memory_order_relaxed) ^ packed) == key && covers(packed, address & (GRANULE - 1)))
            return unpack(packed);
    }
    return learn(address, scratch, set, key);
}

void recipe_forget_all(void)
{
    atomic_fetch_add(&generation, 1);
}

HOT uint32_t recipe_generation(void)
{
    return atomic_load_explicit(&generation, memory_order_acquire);
}
