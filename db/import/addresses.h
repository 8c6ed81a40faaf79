/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places of bare addresses, for profiles that hold nothing else: the structure of the binaries is recovered where they
 * are still on this machine. All addresses are added first, because a binary is read once.
 */
#ifndef HQ_DB_IMPORT_ADDRESSES_H
#define HQ_DB_IMPORT_ADDRESSES_H

#include "db/import/target.h"

struct addresses_module {
    char *path;
    char *file;            /* to read instead of path, NULL: that */
    VEC(uint8_t) build_id; /* that it had, empty: unknown */
    VEC(uint64_t) offsets; /* link-time addresses */
    VEC(uint32_t) places;
};

struct addresses {
    VEC(struct addresses_module) modules;
    struct keymap keys;   /* module, address -> number */
    VEC(uint32_t) places; /* by number, after addresses_resolve */
    int64_t recorded;     /* seconds since 1970: a binary that has changed since is told of; 0 unknown */
};

void addresses_init(struct addresses *s);
void addresses_deinit(struct addresses *s);
/* The number of an address: an offset in a file, not in memory. path NULL or "": in no module. */
uint32_t addresses_add(struct addresses *s, const char *path, uint64_t file_offset);
/* A module that is no file is read from this one: "[vdso]". */
void addresses_read_from(struct addresses *s, const char *path, const char *file);
/* The build-id of a module, in hex: another file is not read. One that is no such number, as Go's own, is nothing. */
void addresses_expect(struct addresses *s, const char *path, const char *hex, size_t len);
/* Afterwards s->places[number] is the place. What cannot be read is named after its address, and a fact says why. */
struct hq_error *addresses_resolve(struct addresses *s, struct import *im);

#endif
