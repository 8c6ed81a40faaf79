/* SPDX-License-Identifier: BSD-3-Clause */
/* paths SECONDS [THREADS [leave]]: makes new call paths all the time: a random tree of calls, so that its measurement
 * file grows quickly. With `leave` the process ends when the first thread is done, whatever the others are at. */
#include "burn.h"

#include <pthread.h>
#include <stdlib.h>

static _Thread_local unsigned long long state = 88172645463325252ull;

static unsigned next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 32);
}

static __attribute__((noinline, noipa)) void spend(void)
{
    volatile int x = 0;

    for (int i = 0; i < 3000; i++)
        x += i;
}

static __attribute__((noinline, noipa)) void left(int depth);
static __attribute__((noinline, noipa)) void right(int depth);

static __attribute__((noinline, noipa)) void both(int depth)
{
    if (depth == 0)
        spend();
    else if (next() & 1)
        left(depth - 1);
    else
        right(depth - 1);
    __asm__ volatile("");
}

static void left(int depth)
{
    both(depth);
    __asm__ volatile("");
}

static void right(int depth)
{
    both(depth);
    __asm__ volatile("");
}

static double seconds;

static void *run(void *seed)
{
    double end = thread_seconds() + seconds;

    state += (unsigned long long)seed * 977;
    while (thread_seconds() < end)
        both(40);
    return NULL;
}

int main(int argc, char **argv)
{
    int count = argc > 2 ? atoi(argv[2]) : 0;
    pthread_t *threads = calloc((size_t)count + 1, sizeof *threads);

    seconds = argc > 1 ? atof(argv[1]) : 1;
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, run, (void *)(i + 1));
    run(NULL);
    for (int i = 0; argc <= 3 && i < count; i++)
        pthread_join(threads[i], NULL);
    return 3;
}
