/* SPDX-License-Identifier: BSD-3-Clause */
/* A walk along the stack, frame by frame: the steps of unwind.c. Safe in signal handlers. */
#ifndef HQ_PRELOAD_WALK_WALK_H
#define HQ_PRELOAD_WALK_WALK_H

#include "format/measurement.h"
#include "preload/walk/unwind.h"

/* The stack that is being walked: [low, high) can be read. */
struct stack {
    uint64_t low, high;
    bool foreign;
    uint64_t own_low, own_high; /* the thread's own */
};

/* The walk as it stands at a frame. */
struct walk {
    struct stack stack;
    struct memo *memo;
    const uint64_t *leaf; /* the registers of the sample */
    uint64_t reg[CFI_REGISTERS];
    uint64_t known; /* which of reg are the frame's; the program counter always */
    int32_t how;
    uint32_t frames; /* in memo->fresh */
    uint32_t partial;
    bool unknown;     /* ended at a frame that needs a register which was not followed */
    bool thorough;    /* follow all registers, ignore recipes and the memo */
    bool interrupted; /* it begins where a sample came, not where the collector asks for itself */
};

enum step { STEP_ON, STEP_END, STEP_FAILED, STEP_MORE_REGISTERS };

/*
 * The registers that are known after a frame record was read without a rule for the CFA. Where the record is at the top
 * of the frame, the caller's stack pointer is behind it; elsewhere that is not known, and reg[CFI_SP] is not above it.
 */
#define WALK_BEHIND_RECORD (CFI_BIT(CFI_FP) | CFI_BIT(CFI_PC) | (CFI_LINKS ? 0 : CFI_BIT(CFI_SP)))

/* The walk is about to be taken from these registers. */
void walk_start(struct walk *w, struct memo *memo, const uint64_t reg[CFI_REGISTERS], uint64_t low, uint64_t high);

/* The stack pointer is now where a signal came: perhaps on another stack. */
void walk_enter_stack(struct walk *w);

/* Notes the frame in memo->fresh and goes to its caller. */
enum step walk_step(struct walk *w);

/* A word of the stack; false if it is not known to be readable. */
bool walk_load_far(struct stack *stack, uint64_t address, uint64_t *value);

static inline bool walk_load(struct stack *stack, uint64_t address, uint64_t *value)
{
    if (address < stack->low || address + 8 > stack->high || address + 8 < address)
        return walk_load_far(stack, address, value);
    *value = *(const uint64_t *)address;
    return true;
}

/* Where the frame's recipe is looked for: a return address may be the first of another procedure. */
static inline uint64_t walk_lookup_address(const struct walk *w)
{
    return w->how & FRAME_EXACT ? w->reg[CFI_PC] : w->reg[CFI_PC] - 1;
}

static inline enum step walk_fail(struct walk *w, uint32_t reason)
{
    w->partial = reason;
    return STEP_FAILED;
}

static inline void walk_move(struct walk *w, uint64_t pc, uint64_t sp, uint64_t bp, int32_t how)
{
    w->reg[CFI_PC] = pc;
    w->reg[CFI_SP] = sp;
    w->reg[CFI_FP] = bp;
    w->how = how;
}

/* The step from a frame without call frame information; `recipe` is its own. In preload/arch/. */
enum step walk_without_cfi(struct walk *w, struct recipe recipe); /* frames.c */

/* Where a signal handler returns to: goes on to what the signal has interrupted. False: this is no such place. In
 * preload/arch/. */
bool walk_signal(struct walk *w);

/* The walk is to go on behind a return address that was found at `at` on the stack. In preload/arch/. */
void walk_found_return(struct walk *w, uint64_t pc, uint64_t at);

/* Is this address in code, behind a call instruction? */
bool walk_plausible_return(struct walk *w, uint64_t pc);

/* Is the program counter the first instruction of its function? */
bool walk_is_first_instruction(struct walk *w);

/* Steps on to the end of the stack, without the memo. False if it is not found. */
bool walk_to_end(struct walk *w);

/* After a walk has failed at its second frame: was the sample taken while one coroutine switched to another? Then goes
 * on to the end. */
bool walk_behind_switch(struct walk *w); /* switch.c in preload/arch/ */

/*
 * After a walk has failed: were the frames being thrown away by an exception? Then goes on, and to the end, from the
 * innermost frame that still stands. False if it was something else, or there is no such frame.
 */
bool walk_behind_exception(struct walk *w); /* exception.c */

/*
 * A return address of zero is the end of a stack, but right behind the exception runtime it comes from a frame that was
 * read at the wrong place: then the same, and the walk has ended, perhaps with a reason in `partial`. False: it is the
 * end.
 */
bool walk_behind_zero(struct walk *w);

#endif
