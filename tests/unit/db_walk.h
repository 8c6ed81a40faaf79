/* SPDX-License-Identifier: BSD-3-Clause */
/* Touches everything that a query may touch in a database that may be damaged: for fuzzers and damaged-file tests. */
#ifndef HQ_TESTS_UNIT_DB_WALK_H
#define HQ_TESTS_UNIT_DB_WALK_H

#include "db/fuse.h"

/* Something made of all values, so that nothing is left out by the compiler. */
uint64_t db_walk(const struct db *db);

/* Opens a file, walks through it if it opens, verifies it, and derives from it. The error of opening or verifying, if
 * any. */
struct hq_error *db_walk_file(const char *path);

/* Writes a small database that has some of everything. */
struct hq_error *db_walk_sample(const char *path);
/* The bytes of that database, at most `room`; their number, 0 if it cannot be made. */
size_t db_walk_sample_bytes(uint8_t *data, size_t room);

/* Makes size and checksum in the header of damaged bytes right again, else little of them would be read. */
void db_walk_mend(uint8_t *data, size_t size);

#endif
