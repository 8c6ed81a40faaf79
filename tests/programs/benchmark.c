/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A benchmark for the CI recipe: read_input 30 %, solve 40 % and write_output 30 % of the work, of which solve can be
 * made slower. Its rounds have random lengths and make no system call, so that neither the kernel's tick nor its
 * scheduler bends the shares (doc/testing.md).
 *
 *     benchmark SECONDS FACTOR        SECONDS as it is; solve does FACTOR times its work
 */
#include "burn.h"
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noipa))

static volatile unsigned long steps;

NOINLINE void work(long n)
{
    unsigned x = 1;

    for (long i = 0; i < n; i++)
        x = x * 1103515245 + 12345;
    steps += x;
}

NOINLINE void read_input(long n)
{
    work(n);
    steps++;
}
NOINLINE void solve(long n)
{
    work(n);
    steps++;
}
NOINLINE void write_output(long n)
{
    work(n);
    steps++;
}

int main(int argc, char **argv)
{
    enum { TRIAL = 10000000 };
    double seconds = argc > 1 ? atof(argv[1]) : 1, factor = argc > 2 ? atof(argv[2]) : 1, start = thread_seconds();

    work(TRIAL);
    double per_second = TRIAL / (thread_seconds() - start), left = seconds * per_second;
    srand(1);
    while (left > 0) {
        double round = (0.005 + 0.01 * rand() / RAND_MAX) * per_second;

        read_input((long)(0.3 * round));
        solve((long)(factor * 0.4 * round));
        write_output((long)(0.3 * round));
        left -= round;
    }
    return 0;
}
