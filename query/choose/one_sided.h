/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops that one side of a comparison has and the other has not, because a compiler unrolled it or somebody wrote it
 * anew: all that is called in them has another path there, and so is new or gone.
 */
#ifndef HQ_QUERY_ONE_SIDED_H
#define HQ_QUERY_ONE_SIDED_H

#include "query/choose/select.h"

/*
 * Notes the largest such loop, if a twentieth of the frames of its side or more are below it. node[i][c] is the node of
 * context c of side i in the tree of both; nodes with the same number are one.
 */
void one_sided_note(const struct tree *const sides[2], uint32_t *const node[2], uint32_t node_count,
                    struct selection *s);

#endif
