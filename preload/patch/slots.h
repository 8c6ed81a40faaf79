/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots: memory near a module, in which instructions run that have been replaced. Behind a breakpoint a slot has the
 * instruction and a jump back. Behind a jump it has what stood under it, and in the middle, where the place is, a call
 * of patch_stub (jump.c) with the stack pointer beyond the red zone:
 *
 *     instructions in front of the place     (before bytes)
 *     lea -128(%rsp), %rsp
 *     call *stub
 *     lea 128(%rsp), %rsp
 *     the place's own and those behind it    (behind bytes; they end with a return, or with a jump)
 */
#ifndef HQ_PRELOAD_PATCH_SLOTS_H
#define HQ_PRELOAD_PATCH_SLOTS_H

#include "format/patches.h"

#include <stdbool.h>
#include <stdint.h>

enum { SLOT_BYTES = 128, SLOT_ZONE = 128 };

struct slot {
    uint8_t code[96];
    uint64_t stub;     /* what a jump's slot calls, 0: a breakpoint's */
    uint64_t original; /* of the place's instruction */
    const struct hqp_place *place;
    uint8_t before, behind;
    uint8_t called, done; /* where in `code` the call begins, and what is behind it all */
    uint32_t reserved;
};
_Static_assert(sizeof(struct slot) == SLOT_BYTES, "layout");

/* `count` slots within reach of a module; 0: there is no such memory. To be filled, then closed. */
uint64_t slots_take(uint64_t start, uint64_t end, uint32_t count);
bool slots_close(uint64_t slots, uint32_t count);

/* Those of the modules that begin from `start` to `end` are gone. */
void slots_drop(uint64_t start, uint64_t end);

/* `base`: of the module. */
void slot_fill_behind_breakpoint(uint64_t slot, uint64_t base, const struct hqp_place *place);
void slot_fill_behind_jump(uint64_t slot, uint64_t base, const struct hqp_place *place);

/* The slot that a thread runs in that came from there by its call of patch_stub. */
static inline const struct slot *slot_of_call(uint64_t back)
{
    return (const struct slot *)(back & ~(uint64_t)(SLOT_BYTES - 1));
}

#endif
