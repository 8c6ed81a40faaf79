/* SPDX-License-Identifier: BSD-3-Clause */
/* Two parallel regions in turns, a fixed amount of work: shared_work UNITS FACTOR; `planted` does FACTOR times its
 * part. build: -O2 -g -fopenmp */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noipa))
enum { SIZE = 1 << 15 };
static double field[SIZE];

static NOINLINE double relax(long rounds)
{
    double sum = 0;

#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long i = 1; i < SIZE - 1; i++) {
        double x = field[i];

        for (long k = 0; k < rounds; k++)
            x = 0.5 * x + 1.0 / (1.0 + x * x);
        sum += x;
    }
    return sum;
}

static NOINLINE double planted(long rounds)
{
    double sum = 0;

#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : sum)
    for (long i = 1; i < SIZE - 1; i++) {
        double x = field[i] + (double)i;

        for (long k = 0; k < rounds; k++)
            x = x - 0.1 * (x * x - 2) / (1 + x * x);
        sum += x;
    }
    return sum;
}

int main(int argc, char **argv)
{
    long units = argc > 1 ? atol(argv[1]) : 10;
    double factor = argc > 2 ? atof(argv[2]) : 1, sum = 0;

    for (long i = 0; i < units; i++)
        sum += relax(60) + planted((long)(40 * factor));
    printf("%g\n", sum);
    return 0;
}
