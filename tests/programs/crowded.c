/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More threads that work than processors: all on one. They know how long they have worked and waited, and the kernel
 * knows how long they wanted the processor and had none.
 *
 *   crowded work THREADS SECONDS    each uses SECONDS of CPU time
 *   crowded mutex THREADS SECONDS   likewise, in turns of 3 ms behind one mutex, and 1 ms outside of it
 *   crowded leave THREADS SECONDS   as work, and the program ends while they still live
 *
 * Prints lines `KEY SECONDS`: elapsed time in `works` and in `waits` (the locking of the mutex), the CPU time, and
 * `delayed`: the second number of /proc/thread-self/schedstat, of all threads together; -1: the kernel does not tell.
 */
#define _GNU_SOURCE
#include "burn.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, sums = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begin;
static double seconds, worked, waited, used, delayed;
static int takes_turns, leaves;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double delay(void)
{
    unsigned long long ran, wanted;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    int got = file ? fscanf(file, "%llu %llu", &ran, &wanted) : 0;

    if (file)
        fclose(file);
    return got == 2 ? (double)wanted / 1e9 : -1;
}

static __attribute__((noinline)) double works(double of)
{
    double start = now();

    burn(of);
    return now() - start;
}

static __attribute__((noinline)) double waits(void)
{
    double start = now();

    pthread_mutex_lock(&mutex);
    return now() - start;
}

static void *thread(void *unused)
{
    double work = 0, wait = 0;

    pthread_barrier_wait(&begin);
    while (thread_seconds() < seconds) {
        if (takes_turns) {
            wait += waits();
            work += works(0.003);
            pthread_mutex_unlock(&mutex);
            work += works(0.001);
        } else {
            work += works(0.05);
        }
    }
    double late = delay();
    pthread_mutex_lock(&sums);
    worked += work;
    waited += wait;
    used += thread_seconds();
    delayed = late < 0 || delayed < 0 ? -1 : delayed + late;
    pthread_mutex_unlock(&sums);
    if (leaves)
        pthread_barrier_wait(&begin);
    while (leaves)
        pause();
    return unused;
}

int main(int argc, char **argv)
{
    cpu_set_t allowed, one;
    pthread_t threads[64];
    int count = argc > 3 ? atoi(argv[2]) : 0;

    if (count < 1 || count > 64)
        return 2;
    seconds = atof(argv[3]);
    takes_turns = !strcmp(argv[1], "mutex");
    leaves = !strcmp(argv[1], "leave");
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        CPU_ZERO(&one);
        for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
            if (CPU_ISSET(i, &allowed))
                CPU_SET(i, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    pthread_barrier_init(&begin, NULL, (unsigned)(count + leaves));
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (int i = 0; leaves && i < 2; i++)
        pthread_barrier_wait(&begin);
    for (int i = 0; i < count && !leaves; i++)
        pthread_join(threads[i], NULL);
    printf("worked %.4f\nwaited %.4f\nused %.4f\ndelayed %.4f\n", worked, waited, used, delayed);
    return 0;
}
