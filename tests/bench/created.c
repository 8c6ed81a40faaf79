/* SPDX-License-Identifier: BSD-3-Clause */
/* created TASKS [DEPTH]: creates empty tasks that are deferred, at a call depth, and runs them all in one thread;
 * prints nanoseconds of CPU time for each. The other thread of the team sleeps, so that none is stolen and nobody
 * spins. */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { AT_ONCE = 50 };
static double took;

static __attribute__((noinline)) void create(int depth, long tasks)
{
    if (depth > 0) {
        create(depth - 1, tasks);
        __asm__ volatile("");
        return;
    }
    double start = thread_seconds();

    /* A runtime that has many keeps no more: libgomp 64 for each thread. */
    for (long i = 0; i < tasks; i += AT_ONCE) {
        for (int k = 0; k < AT_ONCE; k++) {
#pragma omp task firstprivate(k)
            __asm__ volatile("" ::"r"(k));
        }
#pragma omp taskwait
    }
    took = thread_seconds() - start;
}

int main(int argc, char **argv)
{
    long tasks = argc > 1 ? atol(argv[1]) : 100000;
    int depth = argc > 2 ? atoi(argv[2]) : 5, done = 0, there = 0;

#pragma omp parallel num_threads(2) shared(done, there)
    {
        int first;

#pragma omp atomic capture
        first = there++;
        if (first == 0) {
            create(depth, 1000);
            create(depth, tasks);
#pragma omp atomic write
            done = 1;
        } else {
            for (int over = 0; !over;) {
                usleep(1000);
#pragma omp atomic read
                over = done;
            }
        }
    }
    printf("%.1f\n", took / (double)tasks * 1e9);
    return 0;
}
