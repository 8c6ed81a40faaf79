/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of the load modules of a recording, in DB/binaries beside DB/measurements: what was recorded on one machine is
 * asked on another, where these files are others or not there at all.
 */
#ifndef HQ_DB_BINARIES_H
#define HQ_DB_BINARIES_H

#include "common/err.h"

#include <stdint.h>

#define BINARIES_DIRECTORY "binaries"

/*
 * The place of the copy of one load module, whether it is there or not. measurements: the directory of measurements;
 * build_id: in hex, "" for a file without. The caller frees it.
 */
char *binaries_place(const char *measurements, const char *build_id, const char *path);

struct binaries_kept {
    uint64_t files, bytes; /* there now, whoever has copied them */
    uint64_t changed;      /* were not copied: they are not the files any more that were loaded */
    uint64_t unread;       /* or cannot be read */
};

/* Copies every load module that the measurements name and that has none yet, except for the kernel's and hq's own.
 * Other processes may do so at the same time. */
struct hq_error *binaries_keep(const char *measurements, struct binaries_kept *kept);

/* Removes them: the files that are named as copies are, and the directory if nothing else is in it. */
struct hq_error *binaries_discard(const char *measurements);

#endif
