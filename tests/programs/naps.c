/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O2 -g -fopenmp */
/*
 * naps [SECONDS [ROUNDS BETWEEN]]: a region of four threads that sleep 1 : 2 : 3 : 4 SECONDS, opened ten times, or
 * ROUNDS times with BETWEEN seconds behind each. Prints by its own clock how long they slept, how long they waited for
 * the last of them, and how long the other three idled until the next region or the end.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noinline)) void nap(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    while (nanosleep(&t, &t) != 0)
        continue;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0.02, between = argc > 3 ? atof(argv[3]) : 0;
    double slept = 0, waited = 0, idled = 0, left = 0;
    int rounds = argc > 2 ? atoi(argv[2]) : 10;

    for (int i = 0; i < rounds; i++) {
        double begin[THREADS], end[THREADS], all;

#pragma omp parallel num_threads(THREADS)
        {
            int t = omp_get_thread_num();

            begin[t] = now();
            nap(seconds * (t + 1));
            end[t] = now();
        }
        all = now();
        for (int t = 0; t < THREADS; t++) {
            slept += end[t] - begin[t];
            waited += all - end[t];
            idled += t > 0 && i > 0 ? begin[t] - left : 0;
        }
        left = all;
        if (between > 0)
            nap(between);
    }
    idled += (THREADS - 1) * (now() - left);
    printf("%.4f %.4f %.4f\n", slept, waited, idled);
    return 0;
}
