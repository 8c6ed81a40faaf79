/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries over pairs of different databases, whole and damaged: view x clauses x format at random. Damage is done to
 * records and sections by their meaning (format/database.h), and all checksums are made right again, so that what is
 * behind them is reached. Built with sanitizers, any mistake ends the program.
 */
#ifndef HQ_TESTS_UNIT_PAIR_FUZZ_H
#define HQ_TESTS_UNIT_PAIR_FUZZ_H

#include "db/model/model.h"
#include <stddef.h>
#include <stdint.h>

struct pair_fuzz;

/* A pool of databases, the same for the same seed. NULL if they cannot be made. */
struct pair_fuzz *pair_fuzz_create(uint64_t seed);
void pair_fuzz_destroy(struct pair_fuzz *f);

struct pair_fuzz_counts {
    long long opened, tables, outputs, refused;
};

/* Two databases, one of them damaged in most rounds, and some queries. The same state gives the same round. */
void pair_fuzz_round(struct pair_fuzz *f, uint64_t state, struct pair_fuzz_counts *counts);

/* Changes one record, or one section as a whole, of a database file; then the checksums are to be mended. */
void pair_fuzz_damage(uint8_t *data, size_t size, uint64_t *state);
void pair_fuzz_mend(uint8_t *data, size_t size);

/* Of a database: frames of phases, regions and devices, and one inside of each, below frames[0]; then, for its first
 * profiles, marks, entries and messages there, and now and then a queue of a device. */
enum { PAIR_FUZZ_PLACES = 12 };
void pair_fuzz_places(struct model *m, uint64_t *state, uint32_t procedure, uint32_t line,
                      uint32_t frames[PAIR_FUZZ_PLACES]);
void pair_fuzz_exact(struct model *m, uint64_t *state, uint32_t profiles, const uint32_t *places);

/* What the round is at: for a handler that tells where one hangs. */
extern const char *volatile pair_fuzz_query;

#endif
