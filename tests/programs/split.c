/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A known split of CPU time: heavy 70 %, shared 20 % (three quarters of it called by left, one by
 * right), recurse 10 % over five levels. Prints what it really was by the thread's CPU clock, since equal loops
 * need not run equally fast.
 *
 *     split SECONDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned long sink;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

#define WORK(units)                                                      \
    do {                                                                 \
        unsigned long x = sink;                                          \
        for (long i = 0; i < (units) * 10000L; i++)                      \
            x = x * 6364136223846793005ul + 1442695040888963407ul;       \
        sink = x;                                                        \
    } while (0)

NOINLINE void heavy(long units) { WORK(units); }
NOINLINE void shared(long units) { WORK(units); }
NOINLINE void left(long units) { shared(units); sink++; }
NOINLINE void right(long units) { shared(units); sink++; }

NOINLINE void recurse(int levels, long units)
{
    WORK(units);
    if (levels > 1)
        recurse(levels - 1, units);
    sink++;
}

int main(int argc, char **argv)
{
    double want = argc > 1 ? atof(argv[1]) : 1, used[4] = {0};

    while (used[0] + used[1] + used[2] + used[3] < want) {
        double t0 = cpu_seconds();
        heavy(700);
        double t1 = cpu_seconds();
        left(150);
        double t2 = cpu_seconds();
        right(50);
        double t3 = cpu_seconds();
        recurse(5, 20);
        double t4 = cpu_seconds();
        used[0] += t1 - t0;
        used[1] += t2 - t1;
        used[2] += t3 - t2;
        used[3] += t4 - t3;
    }
    printf("heavy %.6f\nleft %.6f\nright %.6f\nrecurse %.6f\n", used[0], used[1], used[2], used[3]);
    return 0;
}
