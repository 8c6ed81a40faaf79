/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps whose routines lie at several depths, as those of NPB BT do: compute_rhs, then three solvers with a part of
 * their own, cells and a substitution each, of which one cell does its work two calls further in. A step is the phase
 * "step" and takes MS of CPU time.
 *
 *     aligned COUNT MS
 */
#include "hq.h"
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noipa))

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* In the procedure itself: what is called is not what ran. */
static inline __attribute__((always_inline)) void work(double ms)
{
    static volatile double sink;

    for (double end = now() + ms; now() < end;)
        for (int i = 0; i < 5000; i++)
            sink += i * 0.5;
}

#define WORKER(name) \
    static NOINLINE void name(double ms) \
    { \
        work(ms); \
    }

WORKER(compute_rhs)
WORKER(add)
WORKER(binvcrhs)
WORKER(x_substitute)
WORKER(y_cell)
WORKER(y_substitute)
WORKER(z_cell)
WORKER(z_substitute)

static NOINLINE void matmul(double ms)
{
    work(0.25 * ms);
    binvcrhs(0.75 * ms);
}

static NOINLINE void x_cell(double ms)
{
    work(0.2 * ms);
    matmul(0.8 * ms);
}

#define SOLVER(name, cell, substitute) \
    static NOINLINE void name(double ms) \
    { \
        work(0.15 * ms); \
        cell(0.7 * ms); \
        substitute(0.15 * ms); \
    }

SOLVER(x_solve, x_cell, x_substitute)
SOLVER(y_solve, y_cell, y_substitute)
SOLVER(z_solve, z_cell, z_substitute)

static NOINLINE void step(double ms)
{
    work(0.05 * ms);
    compute_rhs(0.2 * ms);
    x_solve(0.25 * ms);
    y_solve(0.2 * ms);
    z_solve(0.2 * ms);
    add(0.1 * ms);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 20;
    double ms = argc > 2 ? atof(argv[2]) : 50;

    for (int i = 0; i < count; i++) {
        hq_phase_begin("step");
        step(ms);
        hq_phase_end();
    }
    return 0;
}
