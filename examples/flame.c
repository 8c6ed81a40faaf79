/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flame on a plate, for `make demo` and the tutorial: MPI ranks hold strips of a grid, OpenMP threads share the rows
 * of a strip. Each step exchanges the edges, diffuses the heat and lets the fuel react; cells that burn are stiff and
 * take many small steps. One thing is wrong with it on purpose: all of the flame lies in the strip of the first rank.
 *
 * flame [STEPS]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 384, ROWS = 256, SUBSTEPS = 24 }; /* rows of all strips together */

struct strip {
    int rank, ranks, rows;
    double *heat, *next, *fuel; /* [rows + 2][COLUMNS]: with an edge of each neighbour */
};

static inline double *at(double *field, int row)
{
    return field + (size_t)row * COLUMNS;
}

static double *new_field(const struct strip *s)
{
    double *field = calloc((size_t)(s->rows + 2) * COLUMNS, sizeof *field);

    if (!field)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return field;
}

/* The plate is cold but for its lower edge, where it burns. */
static void ignite(struct strip *s)
{
    s->heat = new_field(s);
    s->next = new_field(s);
    s->fuel = new_field(s);
    for (int row = 1; row <= s->rows; row++)
        for (int column = 0; column < COLUMNS; column++) {
            int height = s->rank * s->rows + row;

            at(s->heat, row)[column] = height < ROWS / 3 ? 0.9 : 0.05;
            at(s->fuel, row)[column] = 1;
        }
}

/* The first and last row of a strip are the edges of its neighbours. */
static void exchange(struct strip *s)
{
    int below = s->rank ? s->rank - 1 : MPI_PROC_NULL, above = s->rank + 1 < s->ranks ? s->rank + 1 : MPI_PROC_NULL;

    MPI_Sendrecv(at(s->heat, s->rows), COLUMNS, MPI_DOUBLE, above, 0, at(s->heat, 0), COLUMNS, MPI_DOUBLE, below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(at(s->heat, 1), COLUMNS, MPI_DOUBLE, below, 1, at(s->heat, s->rows + 1), COLUMNS, MPI_DOUBLE, above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void diffuse(struct strip *s)
{
#pragma omp parallel for schedule(static)
    for (int row = 1; row <= s->rows; row++) {
        const double *up = at(s->heat, row + 1), *here = at(s->heat, row), *down = at(s->heat, row - 1);
        double *next = at(s->next, row);

        for (int column = 1; column < COLUMNS - 1; column++)
            next[column] = here[column] +
                           0.2 * (up[column] + down[column] + here[column - 1] + here[column + 1] - 4 * here[column]);
        next[0] = next[1];
        next[COLUMNS - 1] = next[COLUMNS - 2];
    }
    double *swap = s->heat;
    s->heat = s->next;
    s->next = swap;
}

/* The law of Arrhenius: what burns fast when it is hot. */
static inline double rate(double heat, double fuel)
{
    return fuel * exp(-1 / (heat + 0.01));
}

/* A cell that burns is integrated in many small steps, any other one in one. */
static inline double burn(double *heat, double *fuel)
{
    int steps = *heat > 0.3 ? SUBSTEPS : 1;
    double released = 0;

    for (int step = 0; step < steps; step++) {
        double burnt = 0.002 / steps * rate(*heat, *fuel);

        *fuel -= burnt;
        *heat += 0.5 * burnt;
        released += burnt;
    }
    return released;
}

static double react(struct strip *s)
{
    double released = 0;

#pragma omp parallel for schedule(static) reduction(+ : released)
    for (int row = 1; row <= s->rows; row++)
        for (int column = 0; column < COLUMNS; column++)
            released += burn(&at(s->heat, row)[column], &at(s->fuel, row)[column]);
    return released;
}

/* Adds up the heat of all strips: here a rank waits for the slowest one. */
static double gather(double released)
{
    double all = 0;

    MPI_Allreduce(&released, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 400, provided;
    struct strip s = {0};
    double released = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
    s.rows = ROWS / s.ranks;
    ignite(&s);
    for (int step = 0; step < steps; step++) {
        exchange(&s);
        diffuse(&s);
        released += gather(react(&s));
    }
    if (s.rank == 0)
        printf("released %.6f in %d steps on %d ranks\n", released, steps, s.ranks);
    free(s.heat);
    free(s.next);
    free(s.fuel);
    MPI_Finalize();
    return 0;
}
