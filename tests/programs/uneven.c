/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O2 -g -fopenmp */
/* uneven [SECONDS]: a region of two threads, of which one has three times as much to do as the other, opened ten times.
 */
#include "burn.h"

#include <omp.h>
#include <stdlib.h>

static __attribute__((noinline)) void compute(double seconds)
{
#pragma omp parallel num_threads(2)
    {
        burn(omp_get_thread_num() ? 3 * seconds : seconds);
        __asm__ volatile("");
    }
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 10; i++)
        compute(argc > 1 ? atof(argv[1]) : 0.025);
    return 0;
}
