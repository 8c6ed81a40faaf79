/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unwind recipes: how to get from a frame to its caller's, per range of addresses, in eight bytes.
 *
 * The papers' "unwind recipe" ([tracing], section 3; [binary]) is computed here from one row of call frame information
 * and kept, for as far as that row holds, in a table that all threads share. A slot holds the recipe and the exclusive
 * or of recipe and place, so that a slot torn by two writers is recognised and ignored; nobody waits. Where code is
 * unloaded (modules_unloading) all old recipes stop matching. Safe in signal handlers.
 */
#ifndef HQ_PRELOAD_WALK_RECIPE_H
#define HQ_PRELOAD_WALK_RECIPE_H

#include "preload/arch/arch.h"
#include "preload/walk/modules.h"

enum recipe_kind {
    RECIPE_NONE,    /* the address is in no code */
    RECIPE_SP,      /* CFA = stack pointer + cfa; return address where the processor has it (arch_return_of); caller's
                       frame pointer at CFA + rbp unless that is 0 */
    RECIPE_FP,      /* CFA = frame pointer + cfa, otherwise the same */
    RECIPE_END,     /* the outermost frame */
    RECIPE_NO_CFI,  /* executable code without call frame information */
    RECIPE_GENERAL, /* anything else: signal frames, expressions, other registers */
    RECIPE_BAD,     /* in a module, but not in its code */
    RECIPE_LOOSE,   /* executable code in no module; module is 0, or what it is a copy of */
    RECIPE_LEAF,    /* CFA = stack pointer + cfa; return address in the link register */
    RECIPE_LINK,    /* CFA = stack pointer + cfa; return address at CFA + rbp; the frame pointer is the caller's */
    RECIPE_CODE, /* without call frame information, but read from the machine code; `cfa` is as assembly.c packs it */
    RECIPE_CODE_SAVED,  /* likewise */
    RECIPE_CODE_SILENT, /* the machine code tells nothing */
};

static inline bool recipe_has_no_cfi(uint32_t kind)
{
    return kind == RECIPE_NO_CFI || kind >= RECIPE_CODE;
}

struct recipe {
    uint32_t kind, module;
    int32_t cfa, rbp; /* bytes; rbp: where the caller's frame pointer is */
};

/* How to step out of the procedure that is at `address`, from a cache, or learnt with `scratch`. Safe in signal
 * handlers. */
struct recipe recipe_find(uint64_t address, struct cfi *scratch);

/* Instead of RECIPE_NO_CFI, which recipe_find gave for `first`: holds to `last`, but not beyond its granule. */
void recipe_keep(uint64_t first, uint64_t last, const struct recipe *recipe);

#endif
