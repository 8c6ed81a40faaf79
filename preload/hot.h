/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The code that every sample runs lies together in a section of its own. Between two samples the program drives the
 * collector out of the processor's caches, and then a sample costs ten times what its instructions do: in one place the
 * code takes one entry of the TLB instead of ten, and its lines can be asked for at once instead of one after the
 * other.
 */
#ifndef HQ_PRELOAD_HOT_H
#define HQ_PRELOAD_HOT_H

#include "unwind/sections.h"

#define HOT __attribute__((section("hq_hot")))

extern const char hot_start[] __asm__("__start_hq_hot") __attribute__((visibility("hidden")));
extern const char hot_end[] __asm__("__stop_hq_hot") __attribute__((visibility("hidden")));

extern const char learn_start[] __asm__("__start_hq_learn") __attribute__((visibility("hidden")));
extern const char learn_end[] __asm__("__stop_hq_learn") __attribute__((visibility("hidden")));

/* Asks for all lines of a section. */
static inline __attribute__((always_inline)) void code_prefetch(const char *start, const char *end)
{
    for (const char *line = start; line < end; line += 64)
        __builtin_prefetch(line, 0, 2);
}

#endif
