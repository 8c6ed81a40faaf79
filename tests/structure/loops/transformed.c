/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops that the compiler takes apart or puts together: see tests/structure/loops.py.
 *
 *! build: gcc -O2 -fopenmp | gcc -O3 -fopenmp -ftree-loop-distribution -fpeel-loops -funroll-loops | gcc -O3 -fopenmp
 *-floop-interchange -floop-unroll-and-jam
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

/* Distributed: one statement becomes a call of memset or a loop of its own, under the same name. */
/*! distributed: loops dist                     when -O2 */
/*! distributed: only dist */
NOINLINE void distributed(double *restrict a, double *restrict b, const double *restrict c, int n)
{
    for (int i = 0; i < n; i++) { /* @dist */
        a[i] = c[i] * 2;
        b[i] = b[i] + sqrt(a[i]);
    }
}

/* Unrolled with a remainder, or peeled: still one loop. */
/*! unrolled: loops u */
/*! unrolled: ubody in u */
NOINLINE long unrolled(const int *a, int n)
{
    long sum = 0;

    for (int i = 0; i < n; i++) /* @u */
        sum = sum * 7 + a[i];   /* @ubody */
    return sum;
}

/* A perfect nest stays a nest. Interchanged, both loops have the line of the outer one, and are one loop. */
/*! jammed: loops j1 j1/j2                      when -O2 */
/*! jammed: jbody in j1/j2                      when -O2 */
/*! jammed: only j1 j1/j2 */
NOINLINE void jammed(double (*restrict a)[128], const double (*restrict b)[128], const double *restrict c)
{
    for (int i = 0; i < 128; i++)      /* @j1 */
        for (int j = 0; j < 128; j++)  /* @j2 */
            a[j][i] += b[j][i] * c[j]; /* @jbody */
}

/*
 * The body of a parallel loop is a procedure of its own, with the loop of the source; gcc gives the condition of the
 * loop that it spread over threads the line of the last statement: the code in front has its own. The call
 * in a peeled round is where it is made.
 */
/*! parallel._omp_fn.0: loops p p/q */
/*! parallel._omp_fn.0: pbody in p/q   when ^(?!.*-fpeel) */
NOINLINE void parallel(double *a, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) { /* @p */
        double sum = 0;

        for (int j = 1; j < n; j++)   /* @q */
            sum += sin(a[i * n + j]); /* @pbody */
        a[i * n] = sum;
    }
}

/* The sum over threads is a loop at the pragma: it tries until nobody else has written between. */
/*! reduced._omp_fn.0: only red atomic   when ^(?!.*-fpeel) */
NOINLINE double reduced(const double *a, int n)
{
    double sum = 0;

#pragma omp parallel for reduction(+ : sum)  // @atomic
    for (int i = 0; i < n; i++)              /* @red */
        sum += a[i];
    return sum;
}

/* Computed goto: one loop, not one for every label. */
/*! threaded: count 1 */
NOINLINE int threaded(const unsigned char *code)
{
    static void *const labels[] = {&&add, &&sub, &&mul, &&neg, &&out};
    int x = 1;

    goto *labels[*code];
add:
    x += 3;
    goto *labels[*++code];
sub:
    x -= 5;
    goto *labels[*++code];
mul:
    x *= 7;
    goto *labels[*++code];
neg:
    x = ~x;
    goto *labels[*++code];
out:
    return x;
}

/* Cold code that the compiler moved elsewhere belongs to its procedure and its loop. */
__attribute__((cold, noinline)) static int rare(int x)
{
    return fprintf(stderr, "%d\n", x);
}

/*! hot: loops hot1 */
/*! hot: coldline in hot1 */
NOINLINE int hot(const int *a, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) { /* @hot1 */
        if (__builtin_expect(a[i] < 0, 0))
            sum += rare(a[i]) * rare(sum); /* @coldline */
        sum += a[i];
    }
    return sum;
}

int main(int argc, char **argv)
{
    static double a[128][128], b[128][128], c[128];
    static const unsigned char code[] = {0, 1, 2, 3, 4};
    int numbers[4] = {argc};

    distributed(a[0], b[0], c, argc);
    jammed(a, (const double(*)[128])b, c);
    parallel(a[0], argc);
    return (int)unrolled(numbers, argc) + threaded(code) + hot(numbers, argc) + (int)reduced(c, argc) +
           (int)strlen(argv[0]);
}
