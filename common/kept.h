/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user's cache (file_cache_dir): recovered structure, what was imported, databases of recordings that cannot be
 * written to. All of it can be made again; together its files take no more than HQ_CACHE_MAX bytes (4GiB), and those
 * that were used longest ago go first. Who reads a removed file has it mapped and is not disturbed.
 */
#ifndef HQ_COMMON_KEPT_H
#define HQ_COMMON_KEPT_H

#include "common/err.h"
#include <stddef.h>
#include <stdint.h>

/* The parts: directories below that of the cache, and how the names of their files end. */
struct kept_part {
    const char *directory, *suffix, *what;
};
extern const struct kept_part kept_parts[]; /* ends with a NULL directory */

/*
 * A file of the cache was last used when it was written or, to a minute, at its time of access, which this sets:
 * reading alone does not on many file systems.
 */
void kept_note_use(const char *path);

/*
 * Removes what was used longest ago until the files of a directory whose names end in `suffix` are no more than three
 * quarters of `most` bytes, if they are more than that; and what writers that are gone left behind.
 */
void kept_trim(const char *directory, const char *suffix, uint64_t most);

/* Trims the whole cache to HQ_CACHE_MAX. A value that is no size gets a warning and counts as the default. */
void kept_trim_all(const char *cache);

/* Files and bytes of a part, and when the one that was not used for longest was used (seconds since the epoch). */
struct kept_sum {
    size_t files;
    uint64_t bytes;
    int64_t oldest;
};
struct hq_error *kept_look(const char *cache, const struct kept_part *part, struct kept_sum *out);
/* Removes all files of a part, and adds how many bytes they had; the error is of the first that stays. */
struct hq_error *kept_clear(const char *cache, const struct kept_part *part, uint64_t *bytes);

/* HQ_CACHE_MAX in bytes. */
uint64_t kept_most(void);

#endif
