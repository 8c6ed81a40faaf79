/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O2 -g -fopenmp */
/* parallel [TIMES]: an OpenMP program: two parallel regions of known names, one of them nested in a recursive
 * procedure. */
#include <stdio.h>
#include <stdlib.h>

static double total;

static __attribute__((noinline, noipa)) double work(int n)
{
    double s = 0;

    for (int i = 1; i < n; i++)
        s += 1.0 / i / (i % 7 + 1);
    return s;
}

static __attribute__((noinline, noipa)) void outer(int depth)
{
    if (depth > 0) {
        outer(depth - 1);
        __asm__ volatile("");
        return;
    }
#pragma omp parallel for reduction(+ : total) num_threads(2)
    for (int i = 0; i < 400; i++)
        total += work(100000 + i);
}

int main(int argc, char **argv)
{
    for (int times = argc > 1 ? atoi(argv[1]) : 1; times > 0; times--) {
        outer(5);
#pragma omp parallel num_threads(2)
        {
            double s = work(20000000);
#pragma omp critical
            total += s;
        }
    }
    printf("%d\n", total > 0);
    return 0;
}
