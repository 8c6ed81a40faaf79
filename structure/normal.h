/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Normalisation: from the structure of the machine code to that of the source, after section 3 of J. Mellor-Crummey,
 * R. Fowler, G. Marin, N. Tallent, HPCView: a tool for top-down analysis of node performance (J. Supercomputing 23,
 * 2002).
 *
 *   - A loop directly inside a loop of the same name (file and line) is that loop: unrolled, interchanged, tiled code.
 *   - Sibling loops of the same name are one: vector body and remainder, distributed loops.
 *   - A statement is where its innermost instance is: what was hoisted or peeled goes back into the loop, if that loop
 *     lies below the one it was found in. A call is more than its statement: it stays in the loops that hold its
 *     instruction, with all that it costs. (A barrier behind a loop often has the line of the loop.)
 *
 * Unlike in the paper, loops of different names are neither fused nor collapsed: a perfect nest stays one.
 */
#ifndef HQ_STRUCTURE_NORMAL_H
#define HQ_STRUCTURE_NORMAL_H

#include "structure/book.h"
#include "structure/loops.h"

/*
 * Sets `normal` of all segments of a procedure, which are the last of the book. What it was set to before is where the
 * statement is taken to be, `raw` or another place than the machine code has it in. Segments of statements that move
 * are cut around the calls in them. Ordinals of normal loops follow the source. loops: NULL, none.
 */
void normal_apply(struct book *b, const struct loops *loops, struct book_procedure *p);

#endif
