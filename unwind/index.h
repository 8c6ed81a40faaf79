/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which entry of .eh_frame describes an address: the sorted table that ends .eh_frame_hdr, and an index to it.
 *
 * Halving a table of 45,000 functions touches twelve cache lines in six pages, and nothing of it is in the processor's
 * caches when a sample comes. So a module in which many addresses were looked up gets buckets, by address: then it is
 * one line of them and two of the table. Making them reads all of the table, once. Safe in signal handlers.
 */
#ifndef HQ_UNWIND_INDEX_H
#define HQ_UNWIND_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct index {
    const uint8_t *header;    /* .eh_frame_hdr that the rest was read from; NULL: not yet */
    const int32_t (*rows)[2]; /* function and description, as distances from the header */
    uint32_t count, shift;
    int32_t first, last;         /* functions of the first and the last row */
    uint32_t searches;           /* without buckets */
    _Atomic(uint32_t *) buckets; /* for each 1 << shift bytes of code the first row that is not before them */
};

/* Whoever uses this room says where buckets come from: zeroed memory, or NULL; in the collector safe in signal
 * handlers. */
void *index_memory(size_t bytes); /* index_memory.c */
void index_give_back(void *memory, size_t bytes);

/* The description of the function at or before the address; NULL if there is none. `end` is that of the module. */
const uint8_t *index_find(struct index *index, const uint8_t *header, uint64_t end, uint64_t address);

/* Where the next function behind the address starts; 0 if there is none, or nothing can be read. */
uint64_t index_next(struct index *index, const uint8_t *header, uint64_t end, uint64_t address);

/* The module was unloaded: what is there next, under whatever name, is searched without buckets. */
void index_forget(struct index *index);

#endif
