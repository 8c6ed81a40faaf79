/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of stacks (walk.h) where the processor is none whose registers the kernel's samples are read for. */
#include "db/perf/walk.h"

#include "format/measurement.h"

void perf_walk(struct perf_walk *w)
{
    w->frames.len = 0;
    w->partial = HQM_PARTIAL_NO_CFI;
}

void perf_walk_deinit(struct perf_walk *w)
{
    vec_deinit(&w->frames);
}
