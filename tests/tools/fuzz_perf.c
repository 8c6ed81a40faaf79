/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_perf SECONDS [SEED [FIRST]]: damaged profiles of the kernel, and programs that they are of. A crash or hang ends
 * the program; seed and round name the case: FIRST starts there. */
#include "common/file.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/mem.h"
#include "tests/unit/perf_fuzz.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_FOR_ONE = 20, EVERY = 500 };

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 10;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);
    long long first = argc > 3 ? atoll(argv[3]) : 0, round;
    time_t end = time(NULL) + (time_t)seconds;
    struct perf_fuzz_counts counts = {0};
    char shared[] = "/dev/shm/hq-fuzz.XXXXXX", other[] = "/tmp/hq-fuzz.XXXXXX"; /* where no disk is waited for */
    char *dir = mkdtemp(shared);
    int wrong = 0;

    if (!dir && !(dir = mkdtemp(other))) {
        perror(other);
        return 1;
    }
    log_set_level(LEVEL_QUIET);
    for (round = first; time(NULL) < end; round++) {
        alarm(SECONDS_FOR_ONE);
        if (round % EVERY == 0) {
            printf("fuzz_perf: seed %llu, round %lld\n", (unsigned long long)seed, round);
            fflush(stdout);
        }
        AUTO_FREE char *problem = perf_fuzz_round(dir, hash_combine(seed, (uint64_t)round), &counts);

        if (problem && ++wrong <= 10)
            printf("round %lld: %s\n", round, problem);
    }
    hq_error_free(file_remove_tree(dir));
    printf("%lld rounds, %lld imported, %lld converted, %lld refused\n%d passed, %d failed\n", round - first,
           counts.imported, counts.converted, counts.refused, wrong == 0, wrong);
    return wrong != 0;
}
