/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of MPI in what MPI calls back: attributes that are deleted, at the end too, and an error handler. Handles that
 * are freed there come back for others. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 5 };

static int me, size, got;
static double freeing; /* seconds, in what calls back, too */
static MPI_Comm inner;
static MPI_Request pending;

static void shift(int tag)
{
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % size, tag, &got, 1, MPI_INT, (me + size - 1) % size, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static int at_end(MPI_Comm comm, int key, void *value, void *extra)
{
    for (int i = 0; i < 3; i++)
        shift(1);
    return MPI_SUCCESS;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* The first rank lets the others wait. */
static int when_freed(MPI_Comm comm, int key, void *value, void *extra)
{
    int rank;

    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    MPI_Comm_rank(comm, &rank);
    if (me == 0)
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    MPI_Sendrecv(&me, 1, MPI_INT, (rank + 1) % size, 2, &got, 1, MPI_INT, (rank + size - 1) % size, 2, comm,
                 MPI_STATUS_IGNORE);
    return MPI_Comm_free(&inner); /* by a jump */
}

static void failed(MPI_Comm *comm, int *error, ...)
{
    shift(3);
}

/* A communicator of all, in the ranks' order or the other way round. */
static int all(int round, MPI_Comm *comm)
{
    int rank;

    MPI_Comm_split(MPI_COMM_WORLD, 0, round % 2 ? -me : me, comm);
    MPI_Comm_rank(*comm, &rank);
    return rank;
}

int main(int argc, char *argv[])
{
    int key, last, rank;
    MPI_Errhandler handler;
    MPI_Request requests[2];
    MPI_Comm outer;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &last, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, when_freed, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, last, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        all(i, &outer);
        MPI_Comm_set_attr(outer, key, NULL);
        rank = all(i, &inner);
        MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 4, inner, &pending);
        MPI_Send(&me, 1, MPI_INT, (rank + 1) % size, 4, inner);
        freeing -= now();
        MPI_Comm_free(&outer);
        freeing += now();
        MPI_Irecv(&got, 1, MPI_INT, (me + size - 1) % size, 5, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&me, 1, MPI_INT, (me + 1) % size, 5, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Comm_create_errhandler(failed, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Send(&me, 1, MPI_INT, size, 0, MPI_COMM_WORLD); /* there is no such rank */
    printf("freeing %.9f\n", freeing);
    return MPI_Finalize();
}
