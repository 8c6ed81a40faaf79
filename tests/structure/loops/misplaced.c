/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two inlined procedures of one form: gcc makes their conditions and addresses once and gives them the place of the
 * other one, or of none. The loops stay in the procedure that has their lines.
 *
 *! build: gcc -O2 | gcc -O3 | gcc -O3 -march=haswell
 *! main: only a a/b a/b/c p p/q p/q/r t t/x t/x/y t/x/y/z t/u t/u/v t/u/v/w
 *! main: written in p/q/r
 */
#include <stdio.h>
#include <stdlib.h>
#define N 40
static void init(int n, double A[N][N][N], double B[N][N][N])
{
    int i, j, k;

    for (i = 0; i < n; i++)         /* @a */
        for (j = 0; j < n; j++)     /* @b */
            for (k = 0; k < n; k++) /* @c */
                A[i][j][k] = B[i][j][k] = (double)(i + j + (n - k)) * 10 / (n);
}
static void print(int n, double A[N][N][N])
{
    int i, j, k;

    for (i = 0; i < n; i++)           /* @p */
        for (j = 0; j < n; j++)       /* @q */
            for (k = 0; k < n; k++) { /* @r */
                if ((i * n * n + j * n + k) % 20 == 0)
                    fprintf(stderr, "\n");
                fprintf(stderr, "%0.2lf ", A[i][j][k]); /* @written */
            }
}
static void kernel(int steps, int n, double A[N][N][N], double B[N][N][N])
{
    for (int t = 1; t <= steps; t++) {          /* @t */
        for (int i = 1; i < n - 1; i++)         /* @x */
            for (int j = 1; j < n - 1; j++)     /* @y */
                for (int k = 1; k < n - 1; k++) /* @z */
                    B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k]) + A[i][j][k];
        for (int i = 1; i < n - 1; i++)         /* @u */
            for (int j = 1; j < n - 1; j++)     /* @v */
                for (int k = 1; k < n - 1; k++) /* @w */
                    A[i][j][k] = 0.125 * (B[i + 1][j][k] - 2.0 * B[i][j][k] + B[i - 1][j][k]) + B[i][j][k];
    }
}
int main(int argc, char **argv)
{
    double(*a)[N][N][N] = malloc(sizeof *a), (*b)[N][N][N] = malloc(sizeof *b);

    init(N, *a, *b);
    kernel(100, N, *a, *b);
    if (argc > 42)
        print(N, *a);
    free(a);
    free(b);
    return 0;
}
