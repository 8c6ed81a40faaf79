/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Visits of known number, length and distance: calls step COUNT times, each of VISIT ms of processor time, with GAP ms
 * of something else between two. once() holds them all and is called once, outside of any loop.
 *
 *     visits COUNT VISIT GAP
 */
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned long sink;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

/* A macro, so that the samples are in whoever works. */
#define WORK(ms) \
    do { \
        double end = now() + (ms); \
        while (now() < end) \
            for (long i = 0; i < 2000; i++) \
                sink = sink * 6364136223846793005ul + 1; \
    } while (0)

NOINLINE void step(double ms)
{
    WORK(ms);
}

NOINLINE void between(double ms)
{
    WORK(ms);
}

NOINLINE void once(int count, double visit, double gap)
{
    for (int i = 0; i < count; i++) {
        step(visit);
        if (gap > 0)
            between(gap);
    }
    sink++;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    once(atoi(argv[1]), atof(argv[2]), atof(argv[3]));
    sink++;
    return 0;
}
