/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_rounds KIND SECONDS: programs that are hard on a clock (clock.py).
 *   tick    rounds of 4 ms of elapsed time, the tick of many kernels: 2.8 ms in `large`, 1.2 ms in `small`
 *   short   many short system calls between little work
 *   long    calls that last longer than a period, between work of 3 ms on average
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static volatile unsigned sink = 1;

static inline __attribute__((always_inline)) void turn(int times)
{
    for (int i = 0; i < times; i++)
        sink = sink * 1103515245 + 12345;
}

static __attribute__((noinline)) void large(double until)
{
    while (now(CLOCK_MONOTONIC) < until)
        turn(100);
}

static __attribute__((noinline)) void small(double until)
{
    while (now(CLOCK_MONOTONIC) < until)
        turn(100);
}

static __attribute__((noinline)) void work(double seconds)
{
    double until = now(CLOCK_THREAD_CPUTIME_ID) + seconds;

    while (now(CLOCK_THREAD_CPUTIME_ID) < until)
        turn(2000);
}

static __attribute__((noinline)) void little_work(void)
{
    turn(700);
}

int main(int count, char **argument)
{
    const char *kind = count > 1 ? argument[1] : "";
    double end = now(CLOCK_PROCESS_CPUTIME_ID) + (count > 2 ? atof(argument[2]) : 1), start = now(CLOCK_MONOTONIC);
    size_t bytes = 40 << 20;
    char *to = malloc(bytes);
    int zeros = open("/dev/zero", O_RDONLY);

    for (long round = 0; now(CLOCK_PROCESS_CPUTIME_ID) < end; round++)
        if (!strcmp(kind, "tick")) {
            large(start + 0.004 * (double)round + 0.0028);
            small(start + 0.004 * (double)(round + 1));
        } else if (!strcmp(kind, "short")) {
            for (int i = 0; i < 1000; i++) {
                little_work();
                getppid();
            }
        } else {
            work(0.0015 + 0.003 * drand48());
            if (read(zeros, to, bytes) < 0)
                return 1;
        }
    return 0;
}
