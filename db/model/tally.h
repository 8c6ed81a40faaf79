/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over profiles, which are added one at a time: raw values per frame, and statistics of the inclusive value per
 * context and per static scope. Every worker has its own; they are merged at the end. All of it is integers, so the
 * order does not matter. The memory depends on the tree, not on the number of profiles.
 */
#ifndef HQ_DB_MODEL_TALLY_H
#define HQ_DB_MODEL_TALLY_H

#include "common/cursor.h"
#include "db/model/canon.h"
#include "db/coded.h"

struct tally;

struct tally *tally_create(const struct canon *c);
void tally_destroy(struct tally *t);

/* Values of one profile and metric, ordered by frame, each frame once. counted: the profile takes part in the
 * statistics. */
void tally_add(struct tally *t, uint32_t metric, const struct db_value *values, size_t count, bool counted);
/* Takes the values in a pass before tally_add, in any order: their magnitudes tell tally_check which sums would not
 * fit. */
void tally_measure(struct tally *t, uint32_t metric, const struct db_value *values, size_t count);
/* HQ_DATA with the metric if a sum of its values does not fit into 63 bits, or the number of its samples into 62. */
struct hq_error *tally_check(const struct tally *t);
void tally_merge(struct tally *into, const struct tally *from);

/* Writes sums, counts and statistics. Ends the numbers, not the tally. */
void tally_write(struct tally *t, struct writer *w);

/* A tally as bytes for another rank, which adds it to its own. */
void tally_pack(const struct tally *t, struct bytes *b);
void tally_merge_packed(struct tally *into, struct cursor *c);

#endif
