/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that compute and pass what they have around, a fixed amount of work: mpi_ring UNITS FACTOR; `planted` does
 * FACTOR times its part, or only that of rank 0 with a third argument. build: -O2 -g */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noipa))
enum { SIZE = 4096 };

static NOINLINE void relax(double *x)
{
    for (int k = 0; k < 12; k++)
        for (int i = 1; i < SIZE - 1; i++)
            x[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * x[i + 1];
}

static NOINLINE double planted(const double *x, long n)
{
    double sum = 0;

    for (long i = 0; i < n; i++)
        sum += x[i % SIZE] / (1.0 + sum * sum);
    return sum;
}

int main(int argc, char **argv)
{
    static double x[SIZE], other[SIZE];
    double sum = 0, all;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long units = argc > 1 ? atol(argv[1]) : 100;
    double factor = argc > 2 && (argc < 4 || rank == 0) ? atof(argv[2]) : 1;

    for (int i = 0; i < SIZE; i++)
        x[i] = i % 17 + rank;
    for (long i = 0; i < units; i++) {
        relax(x);
        sum += planted(x, (long)(16000 * factor));
        MPI_Sendrecv(x, SIZE, MPI_DOUBLE, (rank + 1) % size, 0, other, SIZE, MPI_DOUBLE, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        x[0] = other[SIZE - 1];
        x[SIZE - 1] = other[0];
    }
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%g\n", all);
    MPI_Finalize();
    return 0;
}
