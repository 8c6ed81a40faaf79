/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a jump may stand in place of a breakpoint. It has five bytes, and the places of ways.h have one to four as a
 * rule; so what it lies on besides has to run elsewhere, or to be padding that nobody runs. Nothing may come there but
 * through the first of the five bytes: no jump of the procedure, no landing pad, no other procedure, and no call may
 * return there. The conditions are those of fast tracepoints (GDB's manual, "Tracepoints").
 */
#ifndef HQ_STRUCTURE_WAYS_JUMP_H
#define HQ_STRUCTURE_WAYS_JUMP_H

#include "format/patches.h"
#include "structure/cfg.h"
#include "structure/image.h"

/* Fills in the jump of a place whose instruction is number `i` of the graph: what is entered there, what returns, or
 * what jumps out. Leaves it 0 where none may stand. */
void ways_find_jump(const struct image *image, const struct cfg *g, uint32_t i, struct hqp_place *place);

/* Takes the jumps away that lie on another place. The places ascend. */
void ways_part_jumps(struct hqp_place *places, size_t count);

#endif
