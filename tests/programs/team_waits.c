/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O2 -g -fopenmp -Wno-unknown-pragmas */
/*
 * team_waits [SECONDS]: each construct of OpenMP in which a thread of two waits for the other, which naps for SECONDS,
 * four times. Prints a line for each: its procedure, what it waits for, and the least time that it waits.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WAITS(name) static __attribute__((noinline)) void name(void)
#define TWO         _Pragma("omp parallel num_threads(2)")
#define FIRST       (omp_get_thread_num() == 0)
#define END         __asm__ volatile("")

struct sums {
    double a[9];
};
#pragma omp declare reduction(add \
                              : struct sums \
                              : omp_out.a[0] += omp_in.a[0]) initializer(omp_priv = (struct sums){{0}})

static double seconds = 0.05;
static int begun;

static void sleep_for(double duration)
{
    struct timespec t = {(time_t)duration, (long)((duration - (double)(time_t)duration) * 1e9)};

    while (nanosleep(&t, &t) != 0)
        continue;
}

static __attribute__((noinline)) void nap(void)
{
    sleep_for(seconds);
    END;
}

/* A task that has begun is the other thread's, for the one that makes it does nothing until then. */
static void nap_elsewhere(void)
{
    __atomic_store_n(&begun, 1, __ATOMIC_SEQ_CST);
    nap();
}

static void let_begin(void)
{
    while (!__atomic_load_n(&begun, __ATOMIC_SEQ_CST))
        sleep_for(0.0001);
    begun = 0;
}

WAITS(at_barrier)
{
    TWO
    {
        if (FIRST)
            nap();
#pragma omp barrier
        END;
    }
}

WAITS(at_for)
{
    TWO
    {
#pragma omp for schedule(static)
        for (int i = 0; i < 2; i++)
            if (i == 0)
                nap();
        END;
    }
}

WAITS(at_for_dynamic)
{
    TWO
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 2; i++)
            if (i == 0)
                nap();
        END;
    }
}

WAITS(at_reduction)
{
    double sum = 0;

    TWO
    {
#pragma omp for schedule(static) reduction(+ : sum)
        for (int i = 0; i < 2; i++) {
            if (i == 0)
                nap();
            sum += 1;
        }
        END;
    }
    if (sum != 2)
        abort();
}

WAITS(at_user_reduction)
{
    struct sums sums = {{0}};

    TWO
    {
#pragma omp for schedule(static) reduction(add : sums)
        for (int i = 0; i < 2; i++) {
            if (i == 0)
                nap();
            sums.a[0] += 1;
        }
        END;
    }
    if (sums.a[0] != 2)
        abort();
}

WAITS(at_task_reduction)
{
    double sum = 0;

    TWO
    {
#pragma omp for schedule(static) reduction(task, + : sum)
        for (int i = 0; i < 2; i++) {
            if (i == 0)
                nap();
            sum += 1;
        }
        END;
    }
    if (sum != 2)
        abort();
}

WAITS(at_sections)
{
    TWO
    {
#pragma omp sections
        {
#pragma omp section
            nap();
#pragma omp section
            END;
        }
        END;
    }
}

WAITS(at_single)
{
    TWO
    {
#pragma omp single
        nap();
        END;
    }
}

/* Others wait for what the one that was there first gives them; or it waits until they have come for it. */
WAITS(at_copyprivate)
{
    int given;

#pragma omp parallel num_threads(2) private(given)
    {
#pragma omp single copyprivate(given)
        {
            nap();
            given = 1;
        }
        if (given != 1)
            abort();
        END;
    }
}

WAITS(at_copyprivate_end)
{
    int given;

#pragma omp parallel num_threads(2) private(given)
    {
        if (!FIRST)
            nap();
#pragma omp single copyprivate(given)
        given = 1;
        if (given != 1)
            abort();
        END;
    }
}

WAITS(at_critical)
{
    TWO
    {
#pragma omp critical
        nap();
        END;
    }
}

WAITS(at_named_critical)
{
    TWO
    {
#pragma omp critical(by_name)
        nap();
        END;
    }
}

WAITS(at_lock)
{
    omp_lock_t lock;

    omp_init_lock(&lock);
    TWO
    {
        omp_set_lock(&lock);
        nap();
        omp_unset_lock(&lock);
        END;
    }
    omp_destroy_lock(&lock);
}

WAITS(at_nest_lock)
{
    omp_nest_lock_t lock;

    omp_init_nest_lock(&lock);
    TWO
    {
        omp_set_nest_lock(&lock);
        omp_set_nest_lock(&lock);
        nap();
        omp_unset_nest_lock(&lock);
        omp_unset_nest_lock(&lock);
        END;
    }
    omp_destroy_nest_lock(&lock);
}

WAITS(at_ordered)
{
    TWO
    {
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < 2; i++) {
#pragma omp ordered
            nap();
        }
        END;
    }
}

WAITS(at_doacross)
{
    TWO
    {
#pragma omp for ordered(1) schedule(static, 1)
        for (int i = 0; i < 2; i++) {
#pragma omp ordered depend(sink : i - 1)
            nap();
#pragma omp ordered depend(source)
        }
        END;
    }
}

WAITS(at_taskwait)
{
    TWO
#pragma omp master
    {
#pragma omp task
        nap_elsewhere();
        let_begin();
#pragma omp taskwait
        END;
    }
}

WAITS(at_taskwait_depend)
{
    int on = 0;

    TWO
#pragma omp master
    {
#pragma omp task depend(out : on)
        nap_elsewhere();
        let_begin();
#pragma omp taskwait depend(in : on)
        END;
    }
    (void)on;
}

WAITS(at_taskgroup)
{
    int sum = 0;

    TWO
#pragma omp master
    {
#pragma omp taskgroup task_reduction(+ : sum)
        {
#pragma omp task in_reduction(+ : sum)
            {
                nap_elsewhere();
                sum++;
            }
            let_begin();
        }
        END;
    }
}

/* Each thread has one of two: that of the other is the longer one. */
WAITS(at_taskloop)
{
    int both = 0;

    TWO
#pragma omp master
    {
#pragma omp taskloop num_tasks(2) shared(both)
        for (int i = 0; i < 2; i++) {
            __atomic_fetch_add(&both, 1, __ATOMIC_SEQ_CST);
            while (__atomic_load_n(&both, __ATOMIC_SEQ_CST) < 2)
                sleep_for(0.0001);
            if (!FIRST)
                nap();
        }
        END;
    }
}

WAITS(at_cancellable_for)
{
    TWO
    {
#pragma omp for schedule(static)
        for (int i = 0; i < 2; i++) {
            if (i == 0)
                nap();
#pragma omp cancel for if (i == 7)
        }
        END;
    }
}

WAITS(at_cancellable_barrier)
{
    TWO
    {
        if (FIRST)
            nap();
#pragma omp barrier
#pragma omp cancel parallel if (omp_get_num_threads() == 7)
        END;
    }
}

WAITS(at_end)
{
    TWO if (!FIRST) nap();
    END;
}

WAITS(at_end_first)
{
    TWO if (FIRST) nap();
    END;
}

#define REGION "[wait at the region's end]"
static const struct {
    void (*run)(void);
    const char *name, *wait;
} all[] = {
#define ONE(name, wait) \
    { \
        name, #name, wait \
    }
    ONE(at_barrier, "[barrier]"),
    ONE(at_for, "[barrier]"),
    ONE(at_for_dynamic, "[barrier]"),
    ONE(at_reduction, "[barrier]"),
    ONE(at_user_reduction, "[barrier]"),
    ONE(at_task_reduction, "[barrier]"),
    ONE(at_sections, "[barrier]"),
    ONE(at_single, "[barrier]"),
    ONE(at_copyprivate, "[barrier]"),
    ONE(at_copyprivate_end, "[barrier]"),
    ONE(at_critical, "[wait: critical]"),
    ONE(at_named_critical, "[wait: critical]"),
    ONE(at_lock, "[wait: lock]"),
    ONE(at_nest_lock, "[wait: lock]"),
    ONE(at_ordered, "[wait: ordered]"),
    ONE(at_doacross, "[wait: ordered]"),
    ONE(at_taskwait, "[wait: taskwait]"),
    ONE(at_taskwait_depend, "[wait: taskwait]"),
    ONE(at_taskgroup, "[wait: taskwait]"),
    ONE(at_taskloop, "[wait: taskwait]"),
    ONE(at_cancellable_for, "[barrier]"),
    ONE(at_cancellable_barrier, "[barrier]"),
    ONE(at_end, REGION),
    ONE(at_end_first, REGION),
};

int main(int argc, char **argv)
{
    seconds = argc > 1 ? atof(argv[1]) : seconds;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        for (int round = 0; round < 4; round++)
            all[i].run();
        printf("%s,%s,%.3f\n", all[i].name, all[i].wait, 4 * seconds);
    }
    return 0;
}
