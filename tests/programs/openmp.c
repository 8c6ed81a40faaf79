/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O2 -g -fopenmp -pthread */
/*
 * openmp [SECONDS]: every construct of OpenMP, with SECONDS of CPU time in each of its parts, in procedures of known
 * names. Prints how many parallel regions were opened, by its own count.
 */
#include "burn.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int opened;
static double part = 0.01;
static int sink[8];

static __attribute__((noinline)) void plain(int threads)
{
    opened++;
#pragma omp parallel num_threads(threads)
    burn(part);
}

static __attribute__((noinline)) void loops(int kind)
{
    opened++;
    switch (kind) {
    case 0:
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 8; i++)
            burn(part / 4);
        break;
    case 1:
#pragma omp parallel for schedule(dynamic)
        for (int i = 0; i < 8; i++)
            burn(part / 4);
        break;
    case 2:
#pragma omp parallel for schedule(guided)
        for (int i = 0; i < 8; i++)
            burn(part / 4);
        break;
    case 3:
#pragma omp parallel for schedule(runtime)
        for (int i = 0; i < 8; i++)
            burn(part / 4);
        break;
    default:
#pragma omp parallel for schedule(monotonic : dynamic, 2)
        for (int i = 0; i < 8; i++)
            burn(part / 4);
    }
}

static __attribute__((noinline)) void sections(void)
{
    opened++;
#pragma omp parallel sections
    {
#pragma omp section
        burn(part);
#pragma omp section
        burn(part);
    }
}

static __attribute__((noinline)) void constructs(void)
{
    omp_lock_t lock;

    omp_init_lock(&lock);
    opened++;
#pragma omp parallel
    {
        int passed = 0;
#pragma omp single
        burn(part);
#pragma omp master
        burn(part / 2);
#pragma omp barrier
#pragma omp critical
        burn(part / 2);
        omp_set_lock(&lock);
        burn(part / 2);
        omp_unset_lock(&lock);
#pragma omp for ordered
        for (int i = 0; i < 4; i++) {
#pragma omp ordered
            burn(part / 4);
        }
#pragma omp single copyprivate(passed)
        burn(part / 4);
    }
    omp_destroy_lock(&lock);
}

static __attribute__((noinline)) void tasks(void)
{
    opened++;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 4; i++) {
#pragma omp task depend(inout : sink[i % 2]) firstprivate(i)
            {
                burn(part / 2);
                sink[i % 2]++;
            }
        }
#pragma omp taskwait
#pragma omp taskloop grainsize(1)
        for (int i = 0; i < 4; i++)
            burn(part / 2);
#pragma omp taskgroup
        {
#pragma omp task
            burn(part);
        }
    }
}

/* The runtime reads what the program gives its threads. */
static __attribute__((noinline)) void reductions(void)
{
    int sum = 0;

    opened++;
#pragma omp parallel reduction(task, + : sum)
    {
#pragma omp single
        for (int i = 1; i <= 4; i++) {
#pragma omp task in_reduction(+ : sum)
            {
                burn(part / 2);
                sum += i;
            }
        }
    }
    if (sum != 10)
        abort();
}

static __attribute__((noinline)) void nested(void)
{
    opened++;
#pragma omp parallel num_threads(2)
    {
        burn(part / 4);
        opened++;
#pragma omp parallel num_threads(2)
        burn(part / 2);
    }
}

static __attribute__((noinline)) void cancelled(void)
{
    opened++;
#pragma omp parallel
    {
        burn(part / 2);
#pragma omp cancel parallel
        burn(part / 2);
    }
}

static __attribute__((noinline)) void conditional(int many)
{
    opened++;
#pragma omp parallel if (many)
    burn(part);
}

static void *foreign(void *unused)
{
    plain(2);
    sections();
    return unused;
}

/* A child that goes on alone: the runtime's threads are not there. */
static int forked(void)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        burn(part);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    part = argc > 1 ? atof(argv[1]) : part;
    omp_set_max_active_levels(2);
    for (int threads = 1; threads <= 4; threads++)
        plain(threads);
    omp_set_num_threads(3);
    for (int kind = 0; kind < 5; kind++)
        loops(kind);
    sections();
    constructs();
    tasks();
    reductions();
    nested();
    cancelled();
    conditional(0);
    conditional(1);
    pthread_create(&thread, NULL, foreign, NULL);
    plain(2);
    pthread_join(thread, NULL);
    int status = forked();
    plain(2);
    printf("%d\n", opened);
    return status != 0;
}
