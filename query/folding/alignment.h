/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alignment of short pieces of call stacks, after Servat, Llort, González, Giménez and Labarta, Bio-inspired call-stack
 * reconstruction for performance analysis (2016), section III.B.1: of each sample only the innermost frames are known,
 * and what they hang from is what samples around it, which have a routine in common with it, were called from.
 *
 * The routine that most samples hold is the pivot: all samples with it are shifted to where it is at one height. Then
 * those that share a routine with one that has its place are put beside the nearest such one, until none is left that
 * does. A frame that a sample does not know is the one that called what it does know in the last sample before it that
 * tells, or in the first behind it; if none tells, the one that they have at its height. (Algorithm 1 as it is printed
 * takes samples without the pivot for such with it, by an index into the wrong list, and leaves out those whose pivot
 * is as high as that of the sample before, or higher; and a frame is the neighbour's, whatever that called. The text
 * and Figures 2 and 3 tell what is meant. The paper does its second step once, and says that it could be repeated.)
 */
#ifndef HQ_QUERY_ALIGNMENT_H
#define HQ_QUERY_ALIGNMENT_H

#include "common/arena.h"
#include "query/folding/routines.h"
#include <stddef.h>

/*
 * Samples are in the order of time and have their innermost frames as `levels`, the outermost of them first. They get
 * new levels, in the arena, in which one level is one height in all of them; those that share nothing with the others
 * get none (depth 0). Where a routine is in a piece several times, its outermost frame counts. Returns how many have a
 * place. The work is proportional to the number of frames and of rounds, which are as many as calls lie one below the
 * other, at most 64.
 */
size_t alignment_make(struct routine_sample *samples, size_t count, struct arena *arena);

#endif
