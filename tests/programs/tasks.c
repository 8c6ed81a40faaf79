/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O2 -g -fopenmp */
/*
 * tasks [SECONDS]: tasks of every kind, whose arguments have sizes and alignments of their own. Prints what they have
 * computed, which is the same in any run, and how many found their arguments changed: 0. SECONDS of CPU time in four
 * tasks that are created in a loop of `create`, whoever runs them.
 */
#include "burn.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

struct wide {
    _Alignas(64) unsigned char byte[192];
};

static double part = 0.001;
static int wrong, created;

static __attribute__((noinline)) void look(const struct wide *w, int first)
{
    int bad = (unsigned long)w % 64 != 0;

    for (int i = 0; i < 192; i++)
        bad |= w->byte[i] != (unsigned char)(first + i);
    if (bad) {
#pragma omp atomic
        wrong++;
    }
}

static long fibonacci(int n)
{
    long a, b;

    if (n < 2)
        return n;
#pragma omp task shared(a) firstprivate(n) final(n < 8)
    a = fibonacci(n - 1);
#pragma omp task shared(b) firstprivate(n) if (n > 6)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static __attribute__((noinline)) void create(void)
{
    for (int i = 0; i < 4; i++) {
#pragma omp task
        {
            burn(part);
#pragma omp atomic
            created++; /* something behind it: the call is no jump */
        }
    }
}

static void widely(void)
{
    struct wide w;

    for (int i = 0; i < 192; i++)
        w.byte[i] = (unsigned char)(7 + i);
    for (int i = 0; i < 40; i++) {
#pragma omp task firstprivate(w) if (i % 3)
        look(&w, 7);
#pragma omp task firstprivate(w) untied priority(2) final(i % 2)
        look(&w, 7);
    }
#pragma omp taskloop firstprivate(w) num_tasks(5)
    for (int i = 0; i < 20; i++)
        look(&w, 7);
}

static void in_order(void)
{
    int x = 0;

#pragma omp task depend(out : x) shared(x)
    x = 1;
#pragma omp task depend(inout : x) shared(x)
    x *= 5;
#pragma omp task depend(in : x) shared(x)
    if (x != 5) {
#pragma omp atomic
        wrong++;
    }
#pragma omp taskwait
}

static void sums(double *sum, unsigned long long *usum, int *last)
{
    double s = 0;
    unsigned long long u = 0;
    int l = -1;

#pragma omp taskloop num_tasks(7) reduction(+ : s) lastprivate(l)
    for (int i = 0; i < 10000; i++) {
        s += i;
        l = i;
    }
#pragma omp taskloop grainsize(100) reduction(+ : u)
    for (unsigned long long i = 0; i < 10000; i++)
        u += i;
#pragma omp taskloop if (0) reduction(+ : s)
    for (long i = 0; i < 100; i++)
        s += 1;
#pragma omp taskgroup task_reduction(+ : s)
    for (int i = 0; i < 50; i++) {
#pragma omp task in_reduction(+ : s)
        s += 1;
#pragma omp task in_reduction(+ : s) if (0)
        s += 1;
    }
    *sum = s;
    *usum = u;
    *last = l;
}

/* So many that they have no room on a stack, and libgomp, which runs them one after the other, keeps none. */
static long many(long n)
{
    static long met;

#pragma omp taskloop grainsize(1)
    for (long i = 0; i < n; i++) {
#pragma omp atomic
        met++;
    }
    return met - n;
}

static int cancelled(void)
{
    int done = 0;

#pragma omp taskgroup
    for (int i = 0; i < 100; i++) {
#pragma omp task shared(done)
        {
#pragma omp atomic
            done++;
#pragma omp cancel taskgroup
        }
    }
    return done > 0;
}

static int detached(void)
{
    int ran = 0;

#if defined __GNUC__ && !defined __clang__ && __GNUC__ < 11 /* knows no events */
    ran = 1;
#else
    omp_event_handle_t event;

#pragma omp task detach(event) shared(ran)
    {
        ran = 1;
        omp_fulfill_event(event);
    }
#pragma omp taskwait
#endif
    return ran;
}

int main(int argc, char **argv)
{
    unsigned long long usum = 0;
    double sum = 0;
    long f = 0;
    int last = 0, some = 0, ran = 0;

    part = argc > 1 ? atof(argv[1]) : part;
#pragma omp parallel num_threads(3)
#pragma omp single
    {
        f = fibonacci(18);
        create();
#pragma omp taskwait
        widely();
        in_order();
        sums(&sum, &usum, &last);
        if (many(100000)) {
#pragma omp atomic
            wrong++;
        }
        some = cancelled();
        ran = detached();
    }
#pragma omp task shared(f)
    f++;
    printf("%ld %.0f %llu %d %d %d %d %d\n", f, sum, usum, last, some, ran, created, wrong);
    return 0;
}
