/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_check SECONDS: messages around a ring and sums over all ranks, each result checked. Exit status 0: all were
 * right. */
#include <mpi.h>
#include <stdlib.h>

static int rank, ranks, wrong;

static void ring(int round)
{
    static int out[4096], in[4096];
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;

    for (int i = 0; i < 4096; i++)
        out[i] = rank * 7 + i + round;
    MPI_Sendrecv(out, 4096, MPI_INT, next, 1, in, 4096, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4096; i++)
        wrong += in[i] != before * 7 + i + round;
}

static void sum(int round)
{
    double mine = rank + round, all = 0, expected = ranks * (ranks - 1) / 2.0 + (double)ranks * round;

    for (int i = 0; i < 20000; i++)
        mine += (double)(i % 3) - (double)(i % 3);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    wrong += all != expected;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double end = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 1);
    int go_on = 1, all_wrong;

    for (int round = 0; go_on; round++) {
        ring(round);
        sum(round);
        go_on = MPI_Wtime() < end;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all_wrong != 0;
}
