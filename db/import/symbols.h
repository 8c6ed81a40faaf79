/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places of bare addresses, for profiles that hold nothing else: the structure of the binaries is recovered where they are still
 * on this machine. All addresses are added first, because a binary is read once.
 */
#ifndef HQ_DB_IMPORT_SYMBOLS_H
#define HQ_DB_IMPORT_SYMBOLS_H

#include "db/import/target.h"

struct symbols_module {
    char *path;
    VEC(uint64_t) offsets;              /* link-time addresses */
    VEC(uint32_t) places;
};

struct symbols {
    VEC(struct symbols_module) modules;
    struct keymap keys;                 /* module, address -> number */
    VEC(uint32_t) places;               /* by number, after symbols_resolve */
};

void symbols_init(struct symbols *s);
void symbols_deinit(struct symbols *s);
/* The number of an address: an offset in a file, not in memory. path NULL or "": in no module. */
uint32_t symbols_add(struct symbols *s, const char *path, uint64_t file_offset);
/* Afterwards s->places[number] is the place. What cannot be read is named after its address, and a fact says why. */
struct hq_error *symbols_resolve(struct symbols *s, struct import *im);

#endif
