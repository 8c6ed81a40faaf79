/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks that wait for each other, an operation and an error handler of the program's own, and calls by their names
 * for profiling. */
#include "burn.h"
#include <mpi.h>

enum { ROUNDS = 60, COUNT = 20000 };

static void my_operation(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    burn(0.002);
    for (int i = 0; i < *n; i++)
        ((double *)inout)[i] += ((double *)in)[i];
}

static void my_handler(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
    burn(0.03);
}

int main(int argc, char **argv)
{
    static double out[COUNT], in[COUNT];
    MPI_Errhandler handler;
    MPI_Request requests[2];
    MPI_Op operation;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(my_operation, 1, &operation);
    MPI_Comm_create_errhandler(my_handler, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int i = 0; i < ROUNDS; i++) {
        burn(rank ? 0.001 : 0.004);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Allreduce(out, in, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
        /* Rank 1 waits in each of its calls. */
        if (!rank)
            burn(0.003);
        if (!rank)
            PMPI_Send(out, COUNT, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        else
            PMPI_Recv(in, COUNT, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    /* MPICH goes on by a jump when it has started the last one. */
    MPI_Send_init(out, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &requests[0]);
    MPI_Recv_init(in, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &requests[1]);
    for (double end = thread_seconds() + 0.2; thread_seconds() < end;) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 4; i++)
        MPI_Send(out, 1, MPI_DOUBLE, 99, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
