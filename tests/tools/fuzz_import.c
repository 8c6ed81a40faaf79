/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_import SECONDS [FORMAT [STATE]]: damaged files through the importers, each format for its share of the time. */
#include "common/file.h"
#include "common/mem.h"
#include "db/import/import.h"
#include "tests/unit/import_fuzz.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A file that hangs an importer ends the program by SIGALRM; the state on the last line names it. */
enum { SECONDS_FOR_ONE = 20 };

static int fuzz(const char *format, double seconds, uint64_t state, const char *dir)
{
    struct timespec start, now;
    long long rounds = 0;
    int wrong = 0;

    clock_gettime(CLOCK_MONOTONIC, &start);
    printf("%s: state %llu\n", format, (unsigned long long)state);
    fflush(stdout);
    do {
        for (size_t i = 0; import_fuzz_seed(format, i); i++, rounds++) {
            uint64_t before = state;

            alarm(SECONDS_FOR_ONE);
            AUTO_FREE char *problem = import_fuzz_round(format, i, &state, dir);

            if (problem && ++wrong <= 10)
                printf("%s, seed %zu, state %llu: %s\n", format, i, (unsigned long long)before, problem);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9 < seconds);
    printf("%s: %lld files, %d wrong\n", format, rounds, wrong);
    return wrong;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 10;
    const char *only = argc > 2 ? argv[2] : NULL;
    uint64_t state = argc > 3 ? strtoull(argv[3], NULL, 0) : (uint64_t)time(NULL);
    char dir[] = "/tmp/hq-fuzz.XXXXXX";
    int count = 0, wrong = 0;

    if (!mkdtemp(dir)) {
        perror(dir);
        return 1;
    }
    for (const struct import_format *f = import_formats; f->name; f++)
        count += !only || !strcmp(f->name, only);
    for (const struct import_format *f = import_formats; f->name; f++)
        if (!only || !strcmp(f->name, only))
            wrong += fuzz(f->name, seconds / count, state, dir);
    hq_error_free(file_remove_tree(dir));
    printf("%d passed, %d failed\n", wrong == 0, wrong);
    return wrong != 0;
}
