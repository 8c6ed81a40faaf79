/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_pair SECONDS [SEED [FIRST]]: view x clauses x format on pairs of different databases, whole and damaged with
 * mended checksums. A crash or hang ends the program; seed and round name the case: FIRST starts there.
 */
#include "common/hash.h"
#include "common/log.h"
#include "tests/unit/pair_fuzz.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_FOR_ONE = 30 };

static volatile long long round_number;

static void tell_hang(int signal)
{
    char text[400];
    int n = snprintf(text, sizeof text, "round %lld hangs in: %.300s\n", round_number, pair_fuzz_query);

    (void)signal;
    if (write(2, text, (size_t)n) == n)
        _exit(1);
    _exit(2);
}

#ifdef __SANITIZE_ADDRESS__
void __sanitizer_set_death_callback(void (*)(void));

static void tell_death(void)
{
    fprintf(stderr, "round %lld dies in: %s\n", round_number, pair_fuzz_query);
}
#endif

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 10;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);
    long long first = argc > 3 ? atoll(argv[3]) : 0;
    time_t end = time(NULL) + (time_t)seconds;
    struct pair_fuzz *f = pair_fuzz_create(seed);
    struct pair_fuzz_counts counts = {0};

    printf("fuzz_pair: seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    if (!f)
        return 2;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_set_death_callback(tell_death);
#endif
    log_set_level(LEVEL_QUIET);
    signal(SIGALRM, tell_hang);
    for (round_number = first; time(NULL) < end; round_number++) {
        alarm(SECONDS_FOR_ONE);
        pair_fuzz_round(f, hash_combine(seed, (uint64_t)round_number), &counts);
    }
    pair_fuzz_destroy(f);
    printf("%lld rounds, %lld pairs opened, %lld tables, %lld outputs, %lld refusals\n1 passed, 0 failed\n",
           round_number - first, counts.opened, counts.tables, counts.outputs, counts.refused);
    return 0;
}
