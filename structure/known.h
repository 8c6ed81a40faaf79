/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of all procedures of a binary, for telling a procedure without samples from one that is not there. Kept in
 * the structure cache beside the structures.
 */
#ifndef HQ_STRUCTURE_KNOWN_H
#define HQ_STRUCTURE_KNOWN_H

#include "format/known.h"
#include "structure/structure.h"

struct known { /* packed as in format/known.h; zeroed is KNOWN_NOT */
    enum known_names state;
    uint32_t count;
    uint8_t *packed;
    size_t bytes;
    uint64_t unpacked; /* bytes */
};

/*
 * Finds the names of the binary that structure_recover would read; *out is KNOWN_NOT if it cannot be read. Ended with
 * known_deinit. `servers`: debug information may be asked of debuginfod. The names of inlined procedures are left out
 * (KNOWN_SYMBOLS) where the debug information is larger than 256 MB; nothing is known of binaries with more than some
 * million and a half names. Thread-safe.
 */
void known_find(const char *path, const struct structure_options *options, bool servers, struct known *out);
void known_copy(const struct known *from, struct known *out);
/* Packs names that are known from elsewhere, in any order. The names are copied; known_deinit frees the result. */
void known_make(enum known_names state, const char *const *names, size_t count, struct known *out);
void known_deinit(struct known *k);

/* Reads packed names one after the other. `packed` is not trusted: damage ends the walk early. */
struct known_walk { /* private */
    uint8_t *data;
    size_t size, at;
    char name[65536]; /* longer names are cut */
};
/* NULL if the data is damaged; else ended with known_close. */
struct known_walk *known_open(const void *packed, size_t bytes, uint64_t unpacked);
/* The next name, valid until the next call; NULL at the end. */
const char *known_next(struct known_walk *w);
void known_close(struct known_walk *w);

#endif
