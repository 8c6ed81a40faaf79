/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of a fixed amount of work that is not theirs alike: mpi_halo STEPS FACTOR. Each step sends both neighbours what
 * they need, computes beside that, waits, and all agree on a residual every fourth step; rank 0 has a quarter more to
 * do. `planted` does FACTOR times its part. build: -O2 -g */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noipa))
enum { WIDTH = 256, ROWS = 64, EDGE = 1024 };

static double now[ROWS + 2][WIDTH], next[ROWS + 2][WIDTH], sent[EDGE], got[2][EDGE];

static NOINLINE double sweep(int rows)
{
    double change = 0;

    for (int y = 1; y <= rows; y++)
        for (int x = 1; x < WIDTH - 1; x++) {
            next[y][x] = 0.25 * (now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1]);
            change += fabs(next[y][x] - now[y][x]);
        }
    return change;
}

static NOINLINE double planted(long n)
{
    unsigned long hash = 5381;

    for (long i = 0; i < n; i++)
        hash = (hash * 33) ^ (unsigned long)i ^ (hash >> 11);
    return (double)(hash % 7);
}

static NOINLINE void pack(int step)
{
    for (int i = 0; i < EDGE; i++)
        sent[i] = now[1 + (i + step) % ROWS][i % WIDTH] + got[i & 1][i] * 1e-6;
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long steps = argc > 1 ? atol(argv[1]) : 100, part = (long)(24000 * (argc > 2 ? atof(argv[2]) : 1));
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    double change = 0, all = 0;

    for (int x = 0; x < WIDTH; x++)
        now[0][x] = x % 19 + rank;
    for (int step = 0; step < steps; step++) {
        MPI_Request r[4];

        pack(step);
        MPI_Irecv(got[0], EDGE, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(got[1], EDGE, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &r[1]);
        MPI_Isend(sent, EDGE, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &r[2]);
        MPI_Isend(sent, EDGE, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &r[3]);
        for (int k = 0; k < (rank ? 4 : 5); k++)
            change += sweep(ROWS);
        change += planted(part);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
        if (step % 4 == 3)
            MPI_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%g\n", all);
    MPI_Finalize();
    return 0;
}
