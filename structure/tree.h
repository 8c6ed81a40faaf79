/* SPDX-License-Identifier: BSD-3-Clause */
/* From what is known of a procedure (ranges, inlined procedures, lines, loops) to its scopes, raw and normalised. */
#ifndef HQ_STRUCTURE_TREE_H
#define HQ_STRUCTURE_TREE_H

#include "structure/book.h"
#include "structure/loops.h"
#include "structure/procedure.h"

/* Adds a procedure to the book and returns its number. loops may be NULL; without `inlines` inlined code is its host's.
 */
uint32_t tree_add(struct book *b, const struct image *image, const struct procedure *p, const struct loops *loops,
                  bool inlines);

#endif
