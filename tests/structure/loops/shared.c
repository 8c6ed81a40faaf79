/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops that OpenMP spreads over threads, whose condition has the line of another loop or of their last statement: in a
 * procedure that is called from a region, inside a sequential loop, around loops that may not be entered at all.
 *
 *! build: gcc -O2 -fopenmp | gcc -O3 -fopenmp
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))
enum { N = 12 };
static double u[N][N][N][5], rhs[N][N][N][5];
int points[3] = {N, N, N};

/* The condition of each outermost loop has the line of the one in it. */
/*! orphaned: loops i1 i1/j1 i1/j1/k1 i2 i2/j2 i2/j2/k2   when ^gcc -O2 */
/*! orphaned: loops i1 i1/j1 i2 i2/j2   when ^gcc -O3 */
NOINLINE void orphaned(double dt)
{
#pragma omp for
    for (int i = 1; i < points[0] - 1; i++) {         /* @i1 */
        for (int j = 0; j < points[1]; j++) {         /* @j1 */
            for (int k = 1; k < points[2] - 1; k++) { /* @k1 */
                double up = u[i + 1][j][k][0], here = u[i][j][k][0], down = u[i - 1][j][k][0];

                rhs[i][j][k][0] += dt * (up - 2 * here + down) / (1 + here * here);
                rhs[i][j][k][1] += dt * (up - down) / (2 + here * here);
            }
        }
    }
#pragma omp for
    for (int i = 1; i < points[0] - 1; i++) {         /* @i2 */
        for (int j = 1; j < points[1] - 1; j++) {     /* @j2 */
            for (int k = 1; k < points[2] - 1; k++) { /* @k2 */
                double up = u[i][j + 1][k][0], here = u[i][j][k][0], down = u[i][j - 1][k][0];

                rhs[i][j][k][2] += dt * (up - 2 * here + down) / (1 + here * here);
                rhs[i][j][k][3] += dt * (up - down) / (2 + here * here);
            }
        }
    }
}

/* The shared loop is the inner one. */
/*! substitute: sbody in back/sj/sk   when -O2 */
NOINLINE void substitute(double dt)
{
    for (int i = points[0] - 2; i >= 0; i--) { /* @back */
#pragma omp for
        for (int j = 1; j < points[1] - 1; j++) {                                                          /* @sj */
            for (int k = 1; k < points[2] - 1; k++) {                                                      /* @sk */
                rhs[i][j][k][0] = (rhs[i][j][k][0] - dt * rhs[i + 1][j][k][0]) / (1 + dt * u[i][j][k][0]); /* @sbody */
                rhs[i][j][k][1] = (rhs[i][j][k][1] - dt * rhs[i + 1][j][k][1]) / (1 + dt * u[i][j][k][1]);
            }
        }
    }
}

struct boxes {
    const int *count;
    int boxes;
};

/* Without neighbours the code goes round in a loop of its own, in front of that with the statements. */
/*! neighbours._omp_fn.0: loops box box/near box/near/pair */
NOINLINE void neighbours(const struct boxes *b, const double *r, double *f, int near)
{
#pragma omp parallel for
    for (int box = 0; box < b->boxes; box++) { /* @box */
        int own = b->count[box];

        for (int n = 0; n < near; n++) { /* @near */
            int there = b->count[(box + n) % N];

            for (int i = 0; i < own * there; i++) /* @pair */
                f[box] += 1 / (r[i] - r[n]);
        }
    }
}

/* The first statement is told at the head of the loop, right of the one behind it; that is no brace, which C does not
 * tell. */
/*! summed._omp_fn.0: loops for for/col   when gcc */
NOINLINE void summed(const int *from, const double *a, double *q, int n)
{
#pragma omp parallel for
    for (int j = 0; j < n; j++) { /* @for */
        /* begins */ double sum = 0;

        for (int k = from[j]; k < from[j + 1]; k++) /* @col */
            sum += a[k];
        q[j] = sum;
    }
}

int main(int argc, char **argv)
{
    int count[N] = {3, 2, 1};
    double r[64] = {argc}, f[N] = {0};

    (void)argv;
#pragma omp parallel
    {
        orphaned(0.1);
        substitute(0.2);
    }
    summed(count, r, f, argc);
    neighbours(&(struct boxes){count, N}, r, f, argc);
    printf("%g %g\n", rhs[1][2][3][0], f[1]);
    return 0;
}
