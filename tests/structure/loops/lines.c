/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops whose exit condition is not where a reader looks for the loop: spread over threads inside a region, closed by
 * goto, without a condition of their own.
 *
 *! build: gcc -O2 -fopenmp | gcc -O3 -fopenmp | gcc -O1 -fopenmp
 */
#include <stdio.h>
#include <stdlib.h>

int first = 1, last = 90;
#define NOINLINE __attribute__((noinline, noclone))

NOINLINE int step(int n)
{
    return n * 5 % 17;
}

/* All threads know the bounds: nothing in x86-64's code has the line of `for`, and the first statement is nearest. */
/*! region._omp_fn.0: loops first second second/inner   when ^gcc -O2 */
/*! region._omp_fn.0: source loops for again again/inner   when gcc -O2 */
/*! region._omp_fn.0: loops for second second/inner   when ^aarch64.* -O2 */
NOINLINE void region(double *a, const double *b, int n)
{
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++) { /* @for */
            double x = b[i];          /* @first */

            a[i] = x > 1 ? x / 3 : x * x;
        }
#pragma omp for
        for (int i = 0; i < n; i++) { /* @again */
            double sum = a[i];        /* @second */

            for (int k = 0; k < i; k++) /* @inner */
                sum += b[k] / (i + k + 1);
            a[i] = sum;
        }
    }
}

/* The bounds have to be worked out: that code has the line of the pragma. */
/*! bounded._omp_fn.0: loops third */
NOINLINE void bounded(double *a, const double *b)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = first; i <= last - first + 1; i++) { /* @third */
            double x = b[i];

            a[i] = x > 1 ? x / 3 : x * x;
        }
    }
}

/* The label has no code: the first statement behind it is where the loop begins. */
/*! jumping: loops top */
NOINLINE int jumping(double *v, int n)
{
    int i = 0;

again:
    v[i] += n; /* @top */
    n = step(n);
    if (n < 3)
        return n;
    i = n % 7;
    v[i] -= 1;
    goto again;
}

int main(int argc, char **argv)
{
    double a[100] = {argc}, b[100] = {1, -2, 3};

    (void)argv;
    region(a, b, 100);
    bounded(a, b);
    printf("%d %g\n", jumping(b, argc), a[99]);
    return 0;
}
