/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops with directives, as clang tells them: what takes a thread's share and what compares with its end have the line
 * of the directive, what bounds the share that of the loop.
 *! build: clang -O1 -fopenmp | clang -O2 -fopenmp | clang -O3 -fopenmp
 */
#define NOINLINE __attribute__((noinline))

/*! orphan: loops one   when ^clang */
NOINLINE void orphan(double *a, const double *b, int n)
{
#pragma omp for
    for (int i = 0; i < n; i++) /* @one */
        a[i] = b[i] > 1 ? b[b[i] > 2] / 3 : a[i];
}

/*! spread: loops row row/col   when ^clang */
NOINLINE void spread(double *a, const double *b, int n)
{
#pragma omp for schedule(static) nowait
    for (int i = 1; i < n - 1; i++) { /* @row */
        double sum = 0;

        for (int k = 0; k < i; k++) /* @col */
            sum += b[k] / (i + k + 1);
        a[i] = sum;
    }
}

/*! wide: only filled   when ^clang -O1 */
NOINLINE void wide(double *a, double *b, int n)
{
#pragma omp for
    for (int i = 0; i < n; i++) { /* @filled */
        a[i] = 1.0;
        b[i] = 2.0;
    }
}

/*! dealt: only part part/in   when ^clang */
NOINLINE void dealt(double *a, const double *b, int n)
{
#pragma omp for schedule(dynamic, 4)
    for (int i = 0; i < n; i++) { /* @part */
        double sum = 0;

        for (int k = 0; k < n; k++) /* @in */
            sum += b[k] / (i + k + 1);
        a[i] = sum;
    }
}

int main(int argc, char **argv)
{
    double a[64] = {argc}, b[64] = {1, 2};

    (void)argv;
#pragma omp parallel
    {
        orphan(a, b, 60 + argc);
        spread(a, b, 60 + argc);
        wide(a, b, 60 + argc);
        dealt(a, b, 60 + argc);
    }
    return a[3] > b[4];
}
