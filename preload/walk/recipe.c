/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/walk/recipe.h"

#include "preload/hot.h"
#include "preload/walk/loose.h"

#include <assert.h>
#include <stdatomic.h>

/*
 * Code is divided into granules of 256 bytes. A slot holds a recipe and the part of a granule where it is the right
 * one: first and last byte. With the recipe that makes 64 bits: kind 4, module 14, CFA offset 16, how far below the CFA
 * rbp is 14 (both in units of 8 bytes), first 8, last 8. The four slots that a granule may be in, its set, are one
 * cache line: what the measured program does between two samples evicts most of the table from the caches, so a look-up
 * has to touch little, while the number of lines hardly matters. 16 KiB of code share a page of the table, and touch no
 * other: that is one entry of the TLB, and the table is large only for programs that run much code. What a set has no
 * room for stands in the one beside it.
 */
enum { GRANULE_LOG2 = 8, GRANULE = 1 << GRANULE_LOG2, PAGE_SETS_LOG2 = 6, PAGES_LOG2 = 8, WAYS = 4 };
enum { SPREAD = 8 }; /* granules to each side that a row is noted for as well, where slots are free */
enum { GENERATION_SHIFT = 40 };
enum { KIND_BITS = 4, MODULE_BITS = 14, CFA_BITS = 16, RBP_BITS = 14 };
static_assert(MODULES_NOTED < 1 << MODULE_BITS && RECIPE_CODE_SILENT < 1 << KIND_BITS, "numbers fit");

struct slot {
    _Atomic uint64_t check, recipe;
};

static struct slot slots[1 << (PAGES_LOG2 + PAGE_SETS_LOG2)][WAYS] __attribute__((aligned(4096)));

/* It goes up when something is unloaded: recipes from before do not match then. */
static inline uint32_t generation(void)
{
    return atomic_load_explicit(&modules_unloading.times, memory_order_acquire);
}

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
    struct recipe r = {.kind = packed & ((1 << KIND_BITS) - 1)};

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

/* Where calls leave the return address in a register: it is still there, or saved alone, or with the frame pointer in a
 * record. */
LEARN static enum recipe_kind classify_link(const struct cfi_row *row, struct recipe *r)
{
    bool saves_fp = row->rule[CFI_FP] == CFI_OFFSET, same_fp = row->rule[CFI_FP] == CFI_SAME;
    int32_t link = row->value[CFI_RETURN], fp = row->value[CFI_FP];

    if (row->rule[CFI_RETURN] == CFI_SAME && same_fp && row->cfa_register == CFI_SP)
        return RECIPE_LEAF;
    if (row->rule[CFI_RETURN] != CFI_OFFSET)
        return RECIPE_GENERAL;
    r->rbp = saves_fp ? fp : link;
    if (!packs(-r->rbp, RBP_BITS) || r->rbp >= 0)
        return RECIPE_GENERAL;
    if (same_fp && row->cfa_register == CFI_SP)
        return r->cfa >= 8 ? RECIPE_LINK : RECIPE_GENERAL;
    if (!saves_fp || link != fp + 8)
        return RECIPE_GENERAL;
    if (row->cfa_register == CFI_SP)
        return r->cfa >= 16 ? RECIPE_SP : RECIPE_GENERAL;
    return row->cfa_register == CFI_FP ? RECIPE_FP : RECIPE_GENERAL;
}

/* The common shapes of a row; everything else is left to the general step, which reads the row again. */
LEARN static enum recipe_kind classify(const struct cfi *cfi, struct recipe *r)
{
    const struct cfi_row *row = &cfi->row;

    if (row->rule[CFI_RETURN] == CFI_UNDEFINED)
        return RECIPE_END;
    if (cfi->signal_frame || row->cfa_rule != CFI_REGISTER || row->rule[CFI_SP] != CFI_SAME ||
        !packs(row->cfa_value, CFA_BITS))
        return RECIPE_GENERAL;
    r->cfa = row->cfa_value;
    if (CFI_LINKS)
        return classify_link(row, r);
    if (row->rule[CFI_RETURN] != CFI_OFFSET || row->value[CFI_RETURN] != -8)
        return RECIPE_GENERAL;
    if (row->rule[CFI_FP] == CFI_OFFSET && packs(-row->value[CFI_FP], RBP_BITS) && row->value[CFI_FP] < -8)
        r->rbp = row->value[CFI_FP];
    else if (row->rule[CFI_FP] != CFI_SAME && row->rule[CFI_FP] != CFI_UNDEFINED)
        return RECIPE_GENERAL;
    if (row->cfa_register == CFI_SP)
        return r->cfa >= 8 ? RECIPE_SP : RECIPE_GENERAL;
    return row->cfa_register == CFI_FP ? RECIPE_FP : RECIPE_GENERAL;
}

LEARN static struct recipe compute(uint64_t address, struct cfi *scratch)
{
    struct recipe r = {.kind = RECIPE_NONE};
    struct code code;

    if (!modules_find(address, &code)) {
        if (loose_is_code(address)) {
            r.kind = RECIPE_LOOSE;
            r.module = modules_copy(address);
        }
        return r;
    }
    code_prefetch(learn_start, learn_end);
    r.module = code.module;
    if (cfi_find(address, &code, scratch))
        r.kind = classify(scratch, &r);
    else
        r.kind = modules_is_text(code.module, address) ? RECIPE_NO_CFI : RECIPE_BAD;
    return r;
}

/* Regions that follow one another never share a page, others by chance. */
static inline struct slot *set_of(uint64_t granule)
{
    uint64_t region = granule >> PAGE_SETS_LOG2, page = region + ((region >> PAGES_LOG2) * 0x9e3779b97f4a7c15u >> 32);

    return slots[(page & ((1 << PAGES_LOG2) - 1)) << PAGE_SETS_LOG2 | (granule & ((1 << PAGE_SETS_LOG2) - 1))];
}

static inline struct slot *beside(struct slot *set)
{
    return slots[(size_t)(set - slots[0]) / WAYS ^ 1];
}

static inline uint64_t key_of(uint64_t granule, uint32_t at)
{
    return granule | (uint64_t)at << GENERATION_SHIFT;
}

/* The packed recipe of a byte of a granule, 0 if it is not in the set. */
static inline uint64_t look_up(const struct slot *set, uint64_t key, unsigned byte)
{
    for (int i = 0; i < WAYS; i++) {
        uint64_t packed = atomic_load_explicit(&set[i].recipe, memory_order_relaxed);
        if (packed && (atomic_load_explicit(&set[i].check, memory_order_relaxed) ^ packed) == key &&
            covers(packed, byte))
            return packed;
    }
    return 0;
}

/* A slot of the set that holds nothing, or nothing that still matches. */
LEARN static struct slot *free_slot(struct slot *set, uint32_t at)
{
    for (int i = 0; i < WAYS; i++) {
        uint64_t packed = atomic_load_explicit(&set[i].recipe, memory_order_relaxed);
        if (!packed ||
            ((atomic_load_explicit(&set[i].check, memory_order_relaxed) ^ packed ^ key_of(0, at)) >> GENERATION_SHIFT))
            return &set[i];
    }
    return NULL;
}

LEARN static void put(struct slot *slot, const struct recipe *r, uint64_t granule, uint64_t start, uint64_t end,
                      uint32_t at)
{
    uint64_t low = granule << GRANULE_LOG2, first = start > low ? start - low : 0,
             last = end - low < GRANULE ? end - low - 1 : GRANULE - 1;
    uint64_t packed = pack(r, (unsigned)first, (unsigned)last);

    atomic_store_explicit(&slot->recipe, packed, memory_order_relaxed);
    atomic_store_explicit(&slot->check, packed ^ key_of(granule, at), memory_order_relaxed);
}

/* Notes that the recipe holds from `start` to `end`: here, and around, since whoever runs a procedure soon runs the
 * rest of it. */
LEARN static void note(const struct recipe *r, uint64_t address, uint64_t start, uint64_t end, uint32_t at)
{
    static _Atomic uint32_t turn;
    uint64_t here = address >> GRANULE_LOG2, from = start >> GRANULE_LOG2, to = (end - 1) >> GRANULE_LOG2;
    struct slot *set = set_of(here), *slot = free_slot(set, at);

    if (!slot)
        slot = free_slot(beside(set), at);
    if (!slot) {
        uint32_t next = atomic_load_explicit(&turn, memory_order_relaxed);
        atomic_store_explicit(&turn, next + 1, memory_order_relaxed);
        slot = &set[next % WAYS];
    }
    put(slot, r, here, start, end, at);
    if (from + SPREAD < here)
        from = here - SPREAD;
    if (to > here + SPREAD)
        to = here + SPREAD;
    for (uint64_t granule = from; granule <= to; granule++) {
        uint64_t byte = granule < here ? GRANULE - 1 : 0;
        if (granule != here && (slot = free_slot(set_of(granule), at)) &&
            !look_up(set_of(granule), key_of(granule, at), (unsigned)byte))
            put(slot, r, granule, start, end, at);
    }
}

/* The recipe of `address`, and where else it holds. */
LEARN static __attribute__((noinline)) struct recipe learn(uint64_t address, struct cfi *scratch, struct slot *set,
                                                           uint32_t at)
{
    uint64_t packed = look_up(beside(set), key_of(address >> GRANULE_LOG2, at), address & (GRANULE - 1));
    struct recipe r;

    if (packed)
        return unpack(packed);
    r = compute(address, scratch);
    if (modules_may_go(r.module) || r.kind == RECIPE_NONE || r.kind == RECIPE_LOOSE)
        return r; /* tomorrow another module may be there */
    if (r.kind == RECIPE_NO_CFI || r.kind == RECIPE_BAD)
        note(&r, address, address, address + 1, at);
    else
        note(&r, address, scratch->row_start, scratch->row_end, at);
    return r;
}

HOT struct recipe recipe_find(uint64_t address, struct cfi *scratch)
{
    uint32_t now = generation();
    struct slot *set = set_of(address >> GRANULE_LOG2);
    uint64_t packed = look_up(set, key_of(address >> GRANULE_LOG2, now), address & (GRANULE - 1));

    return packed ? unpack(packed) : learn(address, scratch, set, now);
}

COLD void recipe_keep(uint64_t first, uint64_t last, const struct recipe *recipe)
{
    uint32_t now = generation();
    uint64_t granule = first >> GRANULE_LOG2, key = key_of(granule, now);
    struct slot *set = set_of(granule);

    if (!packs(recipe->cfa, CFA_BITS) || !packs(-recipe->rbp, RBP_BITS))
        return;
    if (!look_up(set, key, first & (GRANULE - 1)))
        set = beside(set);
    for (int i = 0; i < WAYS; i++) {
        uint64_t packed = atomic_load_explicit(&set[i].recipe, memory_order_relaxed);
        if (packed && (atomic_load_explicit(&set[i].check, memory_order_relaxed) ^ packed) == key &&
            covers(packed, first & (GRANULE - 1)))
            put(&set[i], recipe, granule, first, last + 1, now);
    }
}
