/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the scopes of a procedure, raw and normalised, from its ranges, inlined procedures, lines and loops. */
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
