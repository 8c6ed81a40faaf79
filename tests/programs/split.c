/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A known split of CPU time: heavy 70 %, shared 20 % (three quarters of it called by left, one by
 * right), recurse 10 % over five levels. Prints the seconds of each, by the number of steps that it made.
 *
 * Every step waits for the one before, so that a step costs the same in each loop. The rounds have random lengths and
 * make no system call: CPU-time timers fire at the kernel's tick, which would alias with equal rounds, and a busy
 * kernel prefers to take the processor away at a system call, so that what stands between two of them is rarely met by
 * a tick.
 *
 *     split SECONDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noipa))

static volatile unsigned long sink;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

#define WORK(units) \
    do { \
        unsigned long x = sink; \
        for (long i = 0; i < (units)*10000L; i++) \
            x = x * 6364136223846793005ul + 1442695040888963407ul; \
        sink = x; \
    } while (0)

NOINLINE void heavy(long units)
{
    WORK(units);
}
NOINLINE void shared(long units)
{
    WORK(units);
}
NOINLINE void left(long units)
{
    shared(units);
    sink++;
}
NOINLINE void right(long units)
{
    shared(units);
    sink++;
}

NOINLINE void recurse(int levels, long units)
{
    WORK(units);
    if (levels > 1)
        recurse(levels - 1, units);
    sink++;
}

int main(int argc, char **argv)
{
    double want = argc > 1 ? atof(argv[1]) : 1, start = cpu_seconds();
    long done = 0, units;

    heavy(700);
    units = (long)(want / (cpu_seconds() - start) * 700);
    srand(1);
    while (done < units) {
        long unit = 1 + rand() % 16;
        heavy(70 * unit);
        left(15 * unit);
        right(5 * unit);
        recurse(5, 2 * unit);
        done += 100 * unit;
    }
    want = (cpu_seconds() - start) / (done + 700);
    printf("heavy %.6f\nleft %.6f\nright %.6f\nrecurse %.6f\n", (0.7 * done + 700) * want, 0.15 * done * want,
           0.05 * done * want, 0.1 * done * want);
    return 0;
}
