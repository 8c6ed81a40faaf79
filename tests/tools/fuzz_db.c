/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_db SECONDS [SEED]: damaged databases through the reader: opening, every accessor, cursors, traces, verify,
 * derive. A crash or hang ends the program by a signal; the seed and the number of executions name the file.
 */
#include "common/hash.h"
#include "tests/unit/db_walk.h"
#include "tests/unit/mutate.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_FOR_ONE = 20, CAP = 1 << 16 };

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 10;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL), state;
    long long executions = 0, opened = 0;
    time_t end = time(NULL) + (time_t)seconds;
    int fd = memfd_create("fuzz", 0);
    static uint8_t original[CAP], data[CAP];
    char path[64];
    size_t size = db_walk_sample_bytes(original, CAP);

    printf("fuzz_db: seed %llu\n", (unsigned long long)seed);
    if (fd < 0 || !size)
        return 2;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (; time(NULL) < end; executions++) {
        size_t n;
        struct hq_error *err;

        state = hash_combine(seed, (uint64_t)executions);
        memcpy(data, original, size);
        n = mutate(data, size, &state);
        if (mutate_random(&state) % 8)
            db_walk_mend(data, n);
        if (ftruncate(fd, 0) || pwrite(fd, data, n, 0) != (ssize_t)n)
            return 2;
        alarm(SECONDS_FOR_ONE);
        err = db_walk_file(path);
        opened += !err || strstr(err->message, "--force");
        hq_error_free(err);
    }
    printf("%lld executions, %lld of them opened\n1 passed, 0 failed\n", executions, opened);
    return 0;
}
