/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops whose iterations the runtime deals out in parts, with registers that are restored behind the call that asks for
 * the next part: gcc gives these the line of the loop in it.
 *! build: gcc -O1 -fopenmp | gcc -O2 -fopenmp | gcc -O3 -fopenmp | clang -O2 -fopenmp
 */
#define NOINLINE __attribute__((noinline))

void say(long i);

/*! sums: source loops part part/in */
NOINLINE double sums(int n, int m, const double *w)
{
    double s = 0, t = 1, u = 2;

#pragma omp for schedule(dynamic)
    for (long i = 0; i < n; i++) { /* @part */
        if (i % 50 == 7)
            say(i);

        for (int k = 0; k < m; k++) { /* @in */
            s = s * w[k] + t;
            t = t * s + u;
            u = u * t + w[k + 1];
        }
    }
    return s + t + u;
}

/*! nest: source loops step step/part2 step/part2/in2 */
NOINLINE double nest(int steps, int n, int m, const double *w)
{
    double s = 0, t = 1;

    for (int step = 0; step < steps; step++) { /* @step */
#pragma omp for schedule(guided) nowait
        for (int i = 0; i < n; i++)     /* @part2 */
            for (int k = 0; k < m; k++) /* @in2 */
                t = t * (s = s * w[k] + t) + w[i];
        say(step);
    }
    return s + t;
}

/* The machine tries an atomic sum again until nobody else was there: a loop, but none of the source. */
/*! scatter: source loops item item/link item/link/sum */
NOINLINE void scatter(double *to, const int *from, const int *first, int n)
{
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < n; i++) {                     /* @item */
        for (int k = first[i]; k < first[i + 1]; k++) /* @link */
            if (to[from[k]] > 0) {
                say(from[k]);
#pragma omp atomic /* @sum */
                to[from[k]] += to[i];
            }
    }
}

NOINLINE void say(long i)
{
    __asm__ volatile("" ::"r"(i) : "memory");
}

int main(int argc, char **argv)
{
    double w[64] = {argc};
    double sum = 0;

    int first[3] = {0, 1, argc}, from[2] = {0, 1};

    (void)argv;
    scatter(w, from, first, 2);
#pragma omp parallel reduction(+ : sum)
    sum += sums(60, 60, w) + nest(3, 60, 60, w);
    return sum > 3;
}
