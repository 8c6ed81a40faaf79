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

    /* Rounds of random length: CPU timers fire at the kernel's tick, and a round that is nearly a multiple of it
       would be sampled at the same few places all the time. */
    srand(1);
    while (used[0] + used[1] + used[2] + used[3] < want) {
        long unit = 1 + rand() % 16;
        double t0 = cpu_seconds();
        heavy(70 * unit);
        double t1 = cpu_seconds();
        left(15 * unit);
        double t2 = cpu_seconds();
        right(5 * unit);
        double t3 = cpu_seconds();
        recurse(5, 2 * unit);
        double t4 = cpu_seconds();
        used[0] += t1 - t0;
        used[1] += t2 - t1;
        used[2] += t3 - t2;
        used[3] += t4 - t3;
    }
    printf("heavy %.6f\nleft %.6f\nright %.6f\nrecurse %.6f\n", used[0], used[1], used[2], used[3]);
    return 0;
}
