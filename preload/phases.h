/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Phases: what the program says that a thread is at work on, by hq_phase_begin and hq_phase_end of hq.h. Each thread
 * has a stack of its own of them. The innermost is in the call path of every sample (unwind_base); entering and leaving
 * is counted and, with a trace, noted with its time. The call that begins a phase is walked for, as for a parallel
 * region (openmp/region.h), which has the records.
 */
#ifndef HQ_PRELOAD_PHASES_H
#define HQ_PRELOAD_PHASES_H

enum {
    PHASES_NESTED = 64, /* phases nested deeper count for the 64th */
};

/* In a forked child: what its parent was in goes on there without being counted. */
void phases_forget(void);

#endif
