/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Phases by hq.h: COUNT steps in a loop, each "step" with "assemble" and "solve" in it, which share its time 1 : 3; the
 * last by procedures of the program's own around the calls of hq.h, and recursively in "solve" the phase "deep". Two
 * threads do the same at once. Prints how many phases were begun, by its own count.
 *
 *     marked COUNT [MS]
 */
#include "hq.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noipa))

static volatile unsigned long sink;
static _Atomic unsigned long begun;
static int count;
static double part;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static NOINLINE void burn(double ms)
{
    double end = now() + ms;

    while (ms > 0 && now() < end)
        for (int i = 0; i < 100; i++)
            sink += (unsigned long)i;
}

static NOINLINE void own_begin(const char *name)
{
    begun++;
    hq_phase_begin(name);
}

static NOINLINE void own_end(void)
{
    hq_phase_end();
}

static NOINLINE void deeper(int levels)
{
    own_begin("deep");
    burn(part / 10);
    if (levels)
        deeper(levels - 1);
    own_end();
}

static NOINLINE void assemble(void)
{
    burn(part);
}

static NOINLINE void solve(void)
{
    own_begin("solve");
    burn(2.8 * part);
    deeper(1);
    own_end();
}

static NOINLINE void steps(void)
{
    for (int i = 0; i < count; i++) {
        begun += 2;
        hq_phase_begin("step");
        hq_phase_begin("assemble");
        assemble();
        hq_phase_end();
        solve();
        hq_phase_end();
    }
}

static void *run(void *unused)
{
    steps();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    count = argc > 1 ? atoi(argv[1]) : 10;
    part = argc > 2 ? atof(argv[2]) : 5.37;
    pthread_create(&thread, NULL, run, NULL);
    steps();
    pthread_join(thread, NULL);
    printf("%lu\n", begun);
    return 0;
}
