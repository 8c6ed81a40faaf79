/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much one import may make: a small compressed file can hold a call path of a hundred million frames. What goes
 * beyond is refused with the place in the file and the option that allows more. Generous: the largest profiles of
 * people are some hundred times smaller. Of the process; a command sets it once, before it imports.
 */
#ifndef HQ_DB_IMPORT_LIMITS_H
#define HQ_DB_IMPORT_LIMITS_H

#include <stdint.h>

struct import_limits {
    uint64_t depth;  /* frames of one call path */
    uint64_t frames; /* different frames in all: the nodes of the tree */
    uint64_t values; /* values, trace records, and cells of each table: metrics x frames, metrics x profiles */
    uint64_t bytes;  /* of a file, uncompressed */
};

extern struct import_limits import_limits;

#endif
