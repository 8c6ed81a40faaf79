/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a thread is that runs a replaced instruction in its slot (patch.h), as the program's code has it. */
#ifndef HQ_PRELOAD_PATCH_ORIGINAL_H
#define HQ_PRELOAD_PATCH_ORIGINAL_H

#include "preload/options.h"

uint64_t patch_original_of(uint64_t pc); /* patch.c */

/* For a program counter of a sample, or of what a signal has interrupted. Safe in signal handlers. */
static inline uint64_t patch_original(uint64_t pc)
{
    return __builtin_expect(options.marked, 0) ? patch_original_of(pc) : pc;
}

#endif
