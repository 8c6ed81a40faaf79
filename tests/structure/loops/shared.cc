// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loops that OpenMP spreads over threads, behind an `if`, whose line g++'s code for a thread's share has: the brace at
 * the end of the line of `for` tells them.
 *
 *! build: g++ -O2 -fopenmp | g++ -O3 -fopenmp | g++ -O1 -fopenmp
 */
#include <cstdio>

#define NOINLINE extern "C" __attribute__((noinline))

double low = 0.1, high = 0.9;

/* By g++ for aarch64 the two behind an `if` still have the line of their first statement. */
/*! bounded._omp_fn.0: only all low high   when ^g[+] */
NOINLINE void bounded(double *v, const double *w, int n)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) { /* @all */
            double here = w[i], there = v[i];

            v[i] = here * there;
        }
        if (low != 0) {
#pragma omp for nowait
            for (int i = 0; i < n; i++) { /* @low */
                if (v[i] < low)
                    v[i] = low;
            }
        }
        if (high != 0) {
#pragma omp for nowait
            for (int i = 0; i < n; i++) { /* @high */
                double here = w[i];

                if (here > high)
                    v[i] = high;
            }
        }
    }
}

/* The first statements are known before the loop, and the header begins far down in its body. */
/*! spread._omp_fn.0: loops spread   when -O2 */
/*! spread._omp_fn.0: only spread spread/k spread/l */
NOINLINE void spread(double *v, const double *w, const double *determ, int n)
{
#pragma omp parallel for firstprivate(n)
    for (int i = 0; i < n; i++) { /* @spread */
        double out[4];

        double hour[4];
        double x[4];

        const double *from = w + i;
        int eight = 8 * i;
        double inverse = 1 / determ[i];

        for (int k = 0; k < 4; k++) /* @k */
            x[k] = from[k] * inverse;
        hour[0] = x[0] + x[1] - x[2] - x[3];
        hour[1] = x[0] - x[1] - x[2] + x[3];
        hour[2] = x[0] - x[1] + x[2] - x[3];
        hour[3] = -x[0] + x[1] - x[2] + x[3];
        for (int k = 0; k < 4; k++) /* @l */
            out[k] = hour[k] * from[k];
        v[eight] = out[0];
        v[eight + 1] = out[1];
        v[eight + 2] = out[2];
        v[eight + 3] = out[3];
    }
}

/* The loop in it is unrolled, and has no brace: what it begins with stands further right than its statement. */
/*! bare._omp_fn.0: loops bare bare/third   when -O2 */
/*! bare._omp_fn.0: source loops all all/third   when -O2 */
NOINLINE void bare(double *v, const double *w, int n)
{
#pragma omp parallel for  // @bare
    for (int i = 0; i < n; i++)  /* @all */
        for (int k = 0; k < 3; k++) /* @third */
            v[3 * i + k] = w[k] * v[3 * i + k] + w[i];
}

/* Called from a region: shared loops of one statement in another loop. What adds up the threads' results is a loop, too. */
/*! rounds: loops every every/sum every/first every/second   when -O2 */
NOINLINE double rounds(double *v, const double *w, int n)
{
    static double sum;

    for (int round = 0; round < 4; round++) { /* @every */
#pragma omp single
        sum = 0;
#pragma omp for reduction(+ : sum) // @sum
        for (int i = 0; i < n; i++) { /* @first */
            sum += v[i] * w[i];
        }
#pragma omp for
        for (int i = 0; i < n; i++) { /* @second */
            v[i] = sum * w[i];
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    static double v[9000], w[1000], x[1000];

    (void)argv;
    bounded(v, w, argc * 100);
    spread(v, w, x, argc * 100);
    bare(x, w, argc * 100);
#pragma omp parallel
    rounds(v, w, argc * 100);
    std::printf("%g %g\n", v[3], x[4]);
    return 0;
}
