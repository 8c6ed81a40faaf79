/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/mpi/shim.h"

#include <mpi.h>
#include <stddef.h>

/* MPI counts in int. */
#define PIECE ((uint64_t)1 << 30)
enum { TAG_SIZE = 1, TAG_DATA = 2 };

static void start(int *rank, int *size)
{
    int started;

    MPI_Initialized(&started);
    if (!started)
        MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
}

static int piece(uint64_t left)
{
    return (int)(left < PIECE ? left : PIECE);
}

static void send(const void *data, uint64_t bytes, int to)
{
    MPI_Send(&bytes, 1, MPI_UINT64_T, to, TAG_SIZE, MPI_COMM_WORLD);
    for (uint64_t at = 0; at < bytes; at += PIECE)
        MPI_Send((const char *)data + at, piece(bytes - at), MPI_BYTE, to, TAG_DATA, MPI_COMM_WORLD);
}

static uint64_t next_size(int from)
{
    uint64_t bytes;

    MPI_Recv(&bytes, 1, MPI_UINT64_T, from, TAG_SIZE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return bytes;
}

static void receive(void *data, uint64_t bytes, int from)
{
    for (uint64_t at = 0; at < bytes; at += PIECE)
        MPI_Recv((char *)data + at, piece(bytes - at), MPI_BYTE, from, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void broadcast(void *data, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += PIECE)
        MPI_Bcast((char *)data + at, piece(bytes - at), MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void abort_all(int status)
{
    MPI_Abort(MPI_COMM_WORLD, status);
}

static void end(void)
{
    MPI_Finalize();
}

const struct hq_mpi hq_mpi_functions = {start, send, next_size, receive, broadcast, abort_all, end};
