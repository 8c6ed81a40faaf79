/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops that the compiler makes one of two, and two loops of one line: see tests/structure/loops.py.
 *
 *! build: gcc -O2 -floop-nest-optimize | gcc -O3 -floop-nest-optimize
 */
#include <stdio.h>

#define NOINLINE __attribute__((noinline, noclone))
#define N        1024

static double x[N], y[N], z[N], a[N][N], b[N][N], c[N][N];

/* Fused: one loop with the statements of both, at the second, as the machine code has it. */
/*! fused: loops late */
/*! fused: one in late */
/*! fused: two in late */
NOINLINE void fused(void)
{
    for (int i = 0; i < N; i++)
        y[i] = x[i] * 2;        /* @one */
    for (int i = 0; i < N; i++) /* @late */
        z[i] = y[i] + x[i];     /* @two */
}

/* A fused nest. The optimiser makes the outer loop anew and gives it no line, so it is called after the first line in
 * it. */
/*! nest: loops first first/n4 */
/*! nest: second in first/n4 */
NOINLINE void nest(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            b[i][j] = a[i][j] * 2; /* @first */
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)      /* @n4 */
            c[i][j] = b[i][j] + a[i][j]; /* @second */
}

/* Two loops of a macro are one: nothing in the source tells them apart. */
#define CLEAR(v) \
    for (int i = 0; i < n; i++) \
    (v)[i] = n + getchar()
/*! siblings: loops both */
/* clang-format off */
NOINLINE void siblings(int n)
{
    CLEAR(x); CLEAR(y); /* @both */
}
/* clang-format on */

int main(int argc, char **argv)
{
    (void)argv;
    fused();
    nest();
    siblings(argc);
    return (int)(z[1] + c[2][3]);
}
