/* SPDX-License-Identifier: BSD-3-Clause */
/* idle_threads N SECONDS: N threads wait at a barrier while the first one works for SECONDS of its CPU time, after as
 * long a time to come to rest. Prints the CPU time of the process in that window by rounds of work, nanoseconds. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_barrier_t barrier;

static void *waiting(void *unused)
{
    pthread_barrier_wait(&barrier);
    return unused;
}

static double clock_s(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long work(double seconds)
{
    double end = clock_s(CLOCK_THREAD_CPUTIME_ID) + seconds;
    volatile unsigned x = 1;
    long rounds = 0;

    for (; clock_s(CLOCK_THREAD_CPUTIME_ID) < end; rounds++)
        for (int i = 0; i < 20000; i++)
            x = x * 1103515245 + 12345;
    return rounds;
}

int main(int count, char **argument)
{
    int threads = count > 1 ? atoi(argument[1]) : 1;
    double seconds = count > 2 ? atof(argument[2]) : 1;
    pthread_t *all = calloc((size_t)threads, sizeof *all);
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&all[i], &small, waiting, NULL))
            return 1;
    work(seconds);
    double start = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    long rounds = work(seconds);
    double used = clock_s(CLOCK_PROCESS_CPUTIME_ID) - start;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    free(all);
    printf("%.3f\n", used * 1e9 / (double)rounds);
    return 0;
}
