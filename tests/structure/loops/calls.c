/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of the line of a loop that lie outside of it: the barrier behind a loop that OpenMP spreads over threads, what
 * a loop's condition calls, calls in what was peeled, hoisted, inlined twice into one line. For calls.py.
 */
#include <stdio.h>
#include <stdlib.h>

#define N 1000
static double a[N], b[N], total;

__attribute__((noinline)) static double work(double x)
{
    for (int i = 0; i < 10; i++)
        x = x * 1.000001 + i;
    return x;
}

__attribute__((noinline)) static int bound(int n)
{
    return n - (int)(total > 1e300);
}

/* The same call in the condition and before the first round: one line, two places. */
__attribute__((noinline)) static double condition(int n)
{
    double s = 0;
    for (int i = 0; i < bound(n); i++)
        s += work(a[i]);
    return s;
}

/* Three loops of one line each, a call in all of them and between. */
#define TWICE(n) \
    for (int i = 0; i < (n); i++) \
        s += work(a[i]); \
    s += work(s); \
    for (int i = 0; i < (n); i++) \
    s -= work(b[i])
__attribute__((noinline)) static double one_line(int n)
{
    double s = 0;
    TWICE(n);
    s += work(s);
    TWICE(n / 2);
    return s;
}

static inline double inner(const double *x, int n)
{
    double s = work(x[0]);
    for (int i = 1; i < n; i++)
        s += work(x[i]);
    return s + work(s);
}

/* Inlined twice in one line, once in a loop. */
__attribute__((noinline)) static double inlined(int n)
{
    double s = inner(a, n);
    for (int k = 0; k < 3; k++)
        s += inner(b, n);
    return s;
}

__attribute__((noinline)) static void parallel(int n)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++)
            a[i] = work(b[i]) + i;
#pragma omp for
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                b[i] += work(a[i]);
#pragma omp single
        total += work(a[0]);
#pragma omp for reduction(+ : total)
        for (int i = 0; i < n; i++)
            total += work(b[i]);
    }
}

__attribute__((noinline)) static double nested(int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) {
        s += work(i);
        for (int k = 0; k < n; k++) {
            if (work(k) > 1e9)
                break;
            do
                s += work(s);
            while (s < 0);
        }
        if (s > 1e18)
            s = work(0);
    }
    return s;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100;
    parallel(n);
    printf("%g %g %g %g %g\n", condition(n), one_line(n), inlined(n), nested(n), total);
    return 0;
}
