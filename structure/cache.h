/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recovered procedures on disk, one file for each binary: DIR/structure/KEY.hqs. The key is made of the build-id and
 * the size of the binary (without build-id: its path, size, inode and times of change), of which debug file was used
 * (the same of it) and of what was recovered, so nothing stale is ever found. A file that is damaged or of another
 * version is as good as none.
 *
 * Several hq at once: a file is replaced as a whole (rename), by one writer at a time (lock file); who finds the lock
 * held does not write.
 *
 * A file holds for the sources as they were when it was written: it lists those that lines of loops may come from, with
 * their state.
 *
 * File: struct cache_header, then strings (NUL-terminated, the empty one first), scopes, aliases, segments,
 * procedures, sources, little-endian, as structs of cache.c; the checksum is of everything behind the header.
 */
#ifndef HQ_STRUCTURE_CACHE_H
#define HQ_STRUCTURE_CACHE_H

#include "structure/book.h"
#include "structure/image.h"

struct cache {
    char *path;              /* NULL: no cache */
    char *note;              /* stored with the file */
    struct sources *sources; /* the image's */
};

/* Decides on the file and, if there is one, adds its procedures to the book, which must be empty. The image's files
 * must be open. */
void cache_open(struct cache *c, const struct image *image, const struct structure_options *options, struct book *b);
/* Adds the book's procedures that may be stored to the file. Failure is no error: the next run does the work again. */
void cache_store(const struct cache *c, const struct book *b, const char *note);
void cache_deinit(struct cache *c);

/* Where the names of the binary's procedures are kept (known.h), to be freed; NULL: nowhere. */
char *cache_names_path(const struct image *image, const struct structure_options *options);

#endif
