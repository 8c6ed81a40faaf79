/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The representative routines of a computing region, after Servat, Llort, González, Giménez and Labarta, Bio-inspired
 * call-stack reconstruction for performance analysis (2016), section III.B.2: from the outermost level of the call
 * paths on, a run of samples of one routine that is long enough is kept, and looked into at the next level. The paper
 * reconstructs whole paths from short pieces of them; here they are whole.
 */
#ifndef HQ_QUERY_ROUTINES_H
#define HQ_QUERY_ROUTINES_H

#include "common/vec.h"
#include <stdbool.h>
#include <stdint.h>

#define ROUTINE_NONE UINT32_MAX

/* Samples in the order of time: what was active at each level, the outermost first. */
struct routine_sample {
    double x;
    const uint32_t *levels; /* numbers of routines; none is ROUTINE_NONE */
    uint32_t depth;
    uint32_t instance; /* of the region that it is in: routines_spread */
    double length;     /* of that one: the longer, the more it has of the mean length of a run */
};

/* A run: samples first .. end - 1 have one routine at a level, and lie in a run of the level above. */
struct routine_run {
    uint32_t routine, level; /* from 0 */
    uint32_t first, end;
    double from, to; /* halfway to the samples beside it; 0 and 1 at the ends */
    uint32_t parent; /* the run that it lies in, UINT32_MAX none: before it in the list */
    bool leaf;       /* nothing in it was long enough; such are what is shown */
    bool marked;     /* its place is known otherwise: routines_find does not set it */
    double sure;     /* its length is known to plus or minus this, at 95 %; NaN: not known */
};
struct routine_runs {
    struct routine_run *data;
    size_t len, cap;
};

struct routine_limits {
    uint32_t samples; /* a run has at least so many */
    double share;     /* and is at least so long */
    bool join;        /* a sample counts for what most around it are in, and what lies between two runs of one routine,
                         and is below both, is part of them */
};

/* Appends the runs, each before those in it, those of one level in the order of time. */
void routines_find(const struct routine_sample *samples, size_t count, struct routine_limits limits,
                   struct routine_runs *out);

/* Sets how sure the length of each run is: bootstrap over the instances. NaN of one instance, and of a run that is not
 * found in nine of ten draws. The same samples give the same numbers. */
void routines_spread(const struct routine_sample *samples, size_t count, size_t instances, struct routine_limits limits,
                     struct routine_runs *runs);

#endif
