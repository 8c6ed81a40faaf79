/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O2 -fopenmp */
/* entries REGIONS [DEPTH]: opens empty parallel regions of one thread, at a call depth; prints nanoseconds of CPU time
 * for each. */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) void open_regions(int depth, long regions)
{
    if (depth > 0) {
        open_regions(depth - 1, regions);
        __asm__ volatile("");
        return;
    }
    for (long i = 0; i < regions; i++) {
#pragma omp parallel num_threads(1)
        __asm__ volatile("");
    }
}

int main(int argc, char **argv)
{
    long regions = argc > 1 ? atol(argv[1]) : 100000;
    int depth = argc > 2 ? atoi(argv[2]) : 5;
    double start;

    open_regions(depth, 1000);
    start = thread_seconds();
    open_regions(depth, regions);
    printf("%.1f\n", (thread_seconds() - start) / (double)regions * 1e9);
    return 0;
}
