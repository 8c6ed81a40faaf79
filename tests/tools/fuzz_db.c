/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_db SECONDS [SEED [FIRST]]: damaged databases through the reader (fuzz_files.h): opening, every accessor,
 * cursors, traces, verify, derive. */
#include "tests/unit/db_walk.h"
#include "tests/unit/fuzz_files.h"
#include "tests/unit/mutate.h"
#include <string.h>

enum { CAP = 1 << 16 };

static size_t damage(uint8_t *data, size_t size, uint64_t *state)
{
    size_t n = mutate(data, size, state);

    if (mutate_random(state) % 8)
        db_walk_mend(data, n);
    return n;
}

static bool read_file(const char *path, uint64_t *state)
{
    struct hq_error *err = db_walk_file(path);
    bool opened = !err || strstr(err->message, "--force");

    (void)state;
    hq_error_free(err);
    return opened;
}

int main(int argc, char **argv)
{
    static uint8_t original[CAP];
    size_t size = db_walk_sample_bytes(original, CAP);

    return fuzz_files(&(struct fuzz_files){"fuzz_db", original, size, damage, read_file}, argc, argv);
}
