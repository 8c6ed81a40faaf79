/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocks that are allocated now, by address. Memory comes straight from the system. A block that finds no room is
 * left out. */
#ifndef HQ_PRELOAD_EXACT_BLOCKS_H
#define HQ_PRELOAD_EXACT_BLOCKS_H

#include "format/measurement.h"

#include <stdbool.h>
#include <stddef.h>

/* A hint: blocks_add of this block comes soon. */
void blocks_expect(const void *block);

/* Remembers the size of a block and the cell that counts it. What finds no room is left out. */
void blocks_add(void *block, size_t bytes, struct hqm_cell *cell);

/* False if it is not there (allocated before the collector started, or in the parent process). */
bool blocks_remove(void *block, size_t *bytes, struct hqm_cell **cell);

#endif
