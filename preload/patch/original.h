/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a thread is that runs replaced instructions in their slot (slots.h), as the program's code has it. */
#ifndef HQ_PRELOAD_PATCH_ORIGINAL_H
#define HQ_PRELOAD_PATCH_ORIGINAL_H

#include "preload/options.h"
#include "unwind/cfi.h"

void patch_leave_slots(uint64_t reg[CFI_REGISTERS]); /* slots.c */

/* For the registers of a sample, or of what a signal has interrupted. Safe in signal handlers. */
static inline void patch_original(uint64_t reg[CFI_REGISTERS])
{
    if (__builtin_expect(options.marked, 0))
        patch_leave_slots(reg);
}

#endif
