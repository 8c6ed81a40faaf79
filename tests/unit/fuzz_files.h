/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop of a fuzzer that damages one file: PROGRAM SECONDS [SEED [FIRST]]. Execution n depends on the seed and n
 * alone. A crash ends the program by a signal; a hang, of 20 s, with a line that names the execution: FIRST starts
 * there.
 */
#ifndef HQ_TESTS_UNIT_FUZZ_FILES_H
#define HQ_TESTS_UNIT_FUZZ_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_files {
    const char *name;
    const uint8_t *original; /* a file that can be read */
    size_t size;             /* 0: it could not be made, which ends the program with status 2 */
    /* Damages the bytes, and returns how many are left of them. */
    size_t (*damage)(uint8_t *data, size_t size, uint64_t *state);
    /* Reads the file; true: it could be read. */
    bool (*read)(const char *path, uint64_t *state);
};

/* Returns the program's exit status; it has printed what it did. */
int fuzz_files(const struct fuzz_files *f, int argc, char **argv);

#endif
