/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O2 -g -fopenmp -pthread */
/*
 * directives [ROUNDS]: directives and clauses of OpenMP 5 that openmp.c has not, in regions that are opened at lines of
 * their own. Prints for each line of a region how often the program has opened it.
 */
#include "burn.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define PART 0.001

static long opened[400];
/* Before each directive that opens a region: on the line above it. */
#define OPENS __atomic_fetch_add(&opened[__LINE__ + 1], 1, __ATOMIC_RELAXED)

static int own;
#pragma omp threadprivate(own)

static void holds(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s went wrong\n", what);
    exit(1);
}

static void places(void)
{
    OPENS;
#pragma omp parallel num_threads(2) proc_bind(spread)
    burn(PART);
    OPENS;
#pragma omp parallel num_threads(2) proc_bind(close)
    {
        burn(PART);
        OPENS;
#pragma omp parallel num_threads(2) proc_bind(master)
        burn(PART);
    }
}

static void detached(void)
{
    OPENS;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event)
        burn(PART);
#pragma omp task
        {
            burn(PART);
            omp_fulfill_event(event);
        }
#pragma omp taskwait
    }
}

static void scans(void)
{
    int sum = 0, sums[64];

    OPENS;
#pragma omp parallel for num_threads(2) reduction(inscan, + : sum)
    for (int i = 0; i < 64; i++) {
        sum += i;
#pragma omp scan inclusive(sum)
        sums[i] = sum;
    }
    holds(sums[63] == 2016, "scan");
}

static void loops(void)
{
    OPENS;
#pragma omp parallel num_threads(2)
    {
#pragma omp loop
        for (int i = 0; i < 16; i++)
            burn(PART / 16);
#pragma omp masked filter(1)
        burn(PART);
    }
}

static void task_reductions(void)
{
    long sum = 0;
    int excluded = 0;

    OPENS;
#pragma omp parallel num_threads(3) reduction(task, + : sum)
#pragma omp single
    for (int i = 0; i < 9; i++) {
#pragma omp task in_reduction(+ : sum)
        {
            burn(PART / 8);
            sum += i;
        }
#pragma omp task depend(mutexinoutset : excluded) priority(2)
        {
            burn(PART / 8);
            excluded += 1;
        }
    }
    holds(sum == 36 && excluded == 9, "tasks");
}

static void across(void)
{
    static double grid[9][9];

    OPENS;
#pragma omp parallel for num_threads(2) ordered(2) schedule(static, 1)
    for (int i = 1; i < 8; i++)
        for (int j = 1; j < 8; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
            burn(PART / 40);
            grid[i][j] = grid[i - 1][j] + grid[i][j - 1] + 1;
#pragma omp ordered depend(source)
        }
    holds(grid[1][1] == 1 && grid[7][1] == 7, "doacross");
}

static void hints(void)
{
    long in_critical = 0, in_atomic = 0;

    OPENS;
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 50; i++) {
#pragma omp critical(named) hint(omp_sync_hint_contended)
        in_critical++;
#pragma omp atomic hint(omp_sync_hint_uncontended)
        in_atomic++;
#pragma omp flush acq_rel
        burn(PART / 50);
    }
    holds(in_critical == 100 && in_atomic == 100, "critical and atomic");
}

static __attribute__((noinline)) void orphan(void)
{
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 8; i++)
        burn(PART / 8);
#pragma omp barrier
#pragma omp single
    burn(PART / 4);
}

static void orphans(void)
{
    orphan();
    OPENS;
#pragma omp parallel num_threads(2)
    orphan();
}

static void levels(void)
{
    for (int most = 1; most < 4; most++) {
        omp_set_max_active_levels(most);
        OPENS;
#pragma omp parallel num_threads(2)
        {
            OPENS;
#pragma omp parallel num_threads(2)
            {
                OPENS;
#pragma omp parallel num_threads(2)
                burn(PART);
            }
        }
    }
}

static void sizes(void)
{
    for (int threads = 1; threads <= 4; threads++) {
        omp_set_num_threads(threads);
        OPENS;
#pragma omp parallel copyin(own)
        own += 1;
    }
    OPENS;
#pragma omp parallel if (own < 0)
    burn(PART);
}

static void *foreign(void *nothing)
{
    OPENS;
#pragma omp parallel num_threads(2)
    burn(PART);
    return nothing;
}

static void threads(void)
{
    pthread_t thread[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, foreign, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}

static void leagues(void)
{
    OPENS;
#pragma omp teams num_teams(2) thread_limit(2)
    {
        OPENS;
#pragma omp parallel num_threads(2)
        burn(PART);
    }
}

static void task_loops(void)
{
    long sum = 0;

    OPENS;
#pragma omp parallel num_threads(2)
#pragma omp master taskloop grainsize(2) reduction(+ : sum)
    for (int i = 0; i < 8; i++) {
        burn(PART / 4);
        sum += i;
    }
    holds(sum == 28, "taskloop");
    OPENS;
#pragma omp parallel master num_threads(2)
    {
#pragma omp taskloop num_tasks(4) nogroup
        for (int i = 0; i < 8; i++)
            burn(PART / 4);
    }
}

int main(int argc, char **argv)
{
    omp_set_dynamic(0);
    for (int round = argc > 1 ? atoi(argv[1]) : 2; round > 0; round--) {
        omp_set_max_active_levels(8);
        places();
        detached();
        scans();
        loops();
        task_reductions();
        across();
        hints();
        orphans();
        levels();
        sizes();
        threads();
        leagues();
        task_loops();
    }
    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++)
        if (opened[i])
            printf("directives.c:%zu %ld\n", i, opened[i]);
    return 0;
}
