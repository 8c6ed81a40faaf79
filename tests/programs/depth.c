/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O1 -g -fno-optimize-sibling-calls */
/*
 * depth N SECONDS: burns CPU at call depth N. Now and then it returns some frames and comes back by other call sites,
 * and the last few frames change all the time, as in real programs.
 */
#include "burn.h"

#include <stdlib.h>

static unsigned state = 1;
static double end;

static unsigned next(void)
{
    state = state * 1103515245 + 12345;
    return state >> 16;
}

static __attribute__((noinline, noipa)) void one(void)
{
    volatile int x = 0;

    for (int i = 0; i < 500; i++)
        x += i;
}

static __attribute__((noinline, noipa)) void two(void)
{
    volatile int x = 0;

    for (int i = 0; i < 300; i++)
        x ^= i;
    one();
}

static __attribute__((noinline, noipa)) void three(void)
{
    if (next() & 1)
        two();
    else
        one();
}

static __attribute__((noinline, noipa)) int down(int depth)
{
    if (depth == 0) {
        for (int i = 0; i < 2000; i++)
            (next() & 1 ? two : three)();
        return thread_seconds() < end;
    }
    if (next() & 1)
        return down(depth - 1) + (int)(state & 1);
    return down(depth - 1) | 2;
}

/* Comes back some frames after each round, deeper ones more often. */
static __attribute__((noinline, noipa)) void rounds(int depth, int tail)
{
    if (depth > 0) {
        rounds(depth - 1, tail);
        return;
    }
    while (thread_seconds() < end)
        down(1 + (int)(next() % (unsigned)tail));
}

int main(int argc, char **argv)
{
    int depth = argc > 1 ? atoi(argv[1]) : 50;

    end = argc > 2 ? atof(argv[2]) : 1;
    /* main and what calls it are four frames, the end of the path two or three. */
    rounds(depth - 6 - depth / 10, depth / 5);
    return 0;
}
