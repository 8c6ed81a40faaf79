/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where code lies in the collector, which is driven out of the processor's caches between two samples (preload/hot.h).
 * LEARN: the way to a recipe that is not known, in one section. COLD: what few samples need.
 */
#ifndef HQ_UNWIND_SECTIONS_H
#define HQ_UNWIND_SECTIONS_H

#define LEARN __attribute__((section("hq_learn")))
#define COLD  __attribute__((noinline, cold))

#endif
