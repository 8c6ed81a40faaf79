/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damaged files for the importers: seeds of every format, and changes that keep most of a file as it was, so that what
 * is behind the first check is reached too.
 */
#ifndef HQ_TESTS_UNIT_IMPORT_FUZZ_H
#define HQ_TESTS_UNIT_IMPORT_FUZZ_H

#include "common/str.h"
#include <stdint.h>

/* A file (or, for hpctoolkit, three of them) that imports. Texts are static; lengths because there may be NULs. */
struct fuzz_seed {
    const char *format;
    size_t parts;
    struct {
        const char *name, *data;
        size_t len;
    } part[3];
};

/* The seeds of a format: number i, or NULL behind the last. */
const struct fuzz_seed *import_fuzz_seed(const char *format, size_t i);

/* A damaged copy of a file. The same state gives the same damage. */
void import_fuzz_damage(uint64_t *state, const char *data, size_t len, struct str *out);

/*
 * Imports a damaged copy of seed i in `dir`, an empty directory: the importer must end, and leave nothing behind after
 * an error; what it wrote must be a database without faults. NULL if so, else what was wrong, to be freed. state NULL:
 * the seed as it is, which must import.
 */
char *import_fuzz_round(const char *format, size_t seed, uint64_t *state, const char *dir);

#endif
