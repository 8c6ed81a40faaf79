/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads N ALIVE MICROSECONDS: makes N threads, at most ALIVE at a time, each burning so much CPU in work; half of
 * them are created by left, half by right. Prints the largest memory of the process in KiB.
 */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static double seconds;

static __attribute__((noinline, noipa)) void *work(void *unused)
{
    burn(seconds);
    return unused;
}

static __attribute__((noinline, noipa)) void left(pthread_t *thread)
{
    if (pthread_create(thread, NULL, work, NULL))
        abort();
}

static __attribute__((noinline, noipa)) void right(pthread_t *thread)
{
    if (pthread_create(thread, NULL, work, NULL))
        abort();
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 8, alive = argc > 2 ? atoi(argv[2]) : 4;
    pthread_t *threads = calloc((size_t)alive, sizeof *threads);
    struct rusage usage;

    seconds = argc > 3 ? atof(argv[3]) / 1e6 : 0.1;
    for (int i = 0; i < count + alive; i++) {
        if (i >= alive)
            pthread_join(threads[i % alive], NULL);
        if (i < count)
            (i % 2 ? left : right)(&threads[i % alive]);
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld\n", usage.ru_maxrss);
    return 0;
}
