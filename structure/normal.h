/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Normalisation: from the structure of the machine code to that of the source, after section 3 of J. Mellor-Crummey,
 * R. Fowler, G. Marin, N. Tallent, HPCView: a tool for top-down analysis of node performance (J. Supercomputing 23,
 * 2002).
 *
 *   - A loop directly inside a loop of the same name (file and line) is that loop: unrolled, interchanged, tiled code.
 *   - Sibling loops of the same name are one: vector body and remainder, distributed loops.
 *   - A statement is where its innermost instance is: what was hoisted or peeled goes back into the loop, if that loop
 *     lies below the one it was found in.
 *
 * Unlike in the paper, loops of different names are neither fused nor collapsed: a perfect nest stays one.
 */
#ifndef HQ_STRUCTURE_NORMAL_H
#define HQ_STRUCTURE_NORMAL_H

#include "structure/book.h"

/* Sets `normal` of all segments of a procedure whose `raw` are set. Ordinals of normal loops follow the source. */
void normal_apply(struct book *b, const struct book_procedure *p);

#endif
