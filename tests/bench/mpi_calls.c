/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_calls CALLS [DEPTH]: what calls of MPI cost that have next to nothing to do, within one rank and at a call depth:
 * prints nanoseconds of CPU time for a barrier of one, and for a message to itself, which is a send, a receive and a
 * wait.
 */
#include "burn.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) double run(int depth, long calls, int messages)
{
    if (depth > 0) {
        double took = run(depth - 1, calls, messages);

        __asm__ volatile("");
        return took;
    }
    double start = thread_seconds();
    int out = 1, in;
    MPI_Request request;

    for (long i = 0; i < calls && !messages; i++)
        MPI_Barrier(MPI_COMM_SELF);
    for (long i = 0; i < calls && messages; i++) {
        MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
        MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return (thread_seconds() - start) / (double)calls * 1e9;
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 100000;
    int depth = argc > 2 ? atoi(argv[2]) : 5;

    MPI_Init(&argc, &argv);
    run(depth, 1000, 0);
    run(depth, 1000, 1);
    double barrier = run(depth, calls, 0), message = run(depth, calls, 1);

    printf("%.1f %.1f\n", barrier, message);
    MPI_Finalize();
    return 0;
}
