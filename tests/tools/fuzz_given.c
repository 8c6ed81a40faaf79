/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_given SECONDS [STATE [ROUNDS]]: damaged structure files, for so long or so many. */
#include "common/mem.h"
#include "tests/unit/given_fuzz.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A file that hangs the reader ends the program by SIGALRM. */
enum { SECONDS_FOR_ONE = 20 };

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 10;
    uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);
    long long most = argc > 3 ? atoll(argv[3]) : 0, rounds = 0, read = 0;
    time_t start = time(NULL);
    int wrong = 0;

    printf("state %llu\n", (unsigned long long)state);
    fflush(stdout);
    while (most ? rounds < most : (double)(time(NULL) - start) < seconds) {
        uint64_t before = state;
        bool was_read;

        alarm(SECONDS_FOR_ONE);
        AUTO_FREE char *problem = given_fuzz_round(&state, &was_read);

        rounds++;
        read += was_read;
        if (problem && ++wrong <= 10)
            printf("state %llu: %s\n", (unsigned long long)before, problem);
    }
    printf("%lld files, %lld of them read, %d wrong\n%d passed, %d failed\n", rounds, read, wrong, !wrong, wrong);
    return wrong != 0;
}
