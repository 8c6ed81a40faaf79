/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A benchmark for the CI recipe: read_input 30 %, solve 40 % and write_output 30 % of the work, of which solve can be made slower.
 *
 *     benchmark SECONDS FACTOR        SECONDS as it is; solve does FACTOR times its work
 */
#include "burn.h"
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned long steps;

NOINLINE void read_input(double seconds) { burn(seconds); steps++; }
NOINLINE void solve(double seconds) { burn(seconds); steps++; }
NOINLINE void write_output(double seconds) { burn(seconds); steps++; }

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1, factor = argc > 2 ? atof(argv[2]) : 1, done = 0;

    /* Rounds of random length, so that they do not keep time with the sampling. */
    srand(1);
    while (done < seconds) {
        double round = 0.005 + 0.01 * rand() / RAND_MAX;

        read_input(0.3 * round);
        solve(factor * 0.4 * round);
        write_output(0.3 * round);
        done += round;
    }
    return 0;
}
