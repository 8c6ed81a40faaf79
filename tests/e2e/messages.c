/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every kind of call that moves something, with amounts that the program adds up itself, in ranks of MPI_COMM_WORLD:
 * lines `call FUNCTION times`, `message FROM TO messages bytes`, `sent RANK bytes` and `received RANK bytes`, by rank
 * 0. What it needs for that goes by PMPI, which is not counted. With two ranks or more; argument: rounds.
 */
#include "messages_count.h"

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdio.h>
#include <stdlib.h>

static char out[1 << 16], in[1 << 16];

static __attribute__((noinline)) void point_to_point(MPI_Comm comm, const int *world, int rank, int n)
{
    int right = (rank + 1) % n, left = (rank + n - 1) % n, done, index, flag, some[8];
    MPI_Request r[8];
    MPI_Status status[8];
    MPI_Message message;

    COUNT(MPI_Sendrecv, out, 100, MPI_INT, right, 1, in, 200, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE);
    sends(world[right], 400), gets(400);
    COUNT(MPI_Sendrecv_replace, in, 3, MPI_DOUBLE, right, 1, left, 1, comm, status);
    sends(world[right], 24), gets(24);
    for (int i = 0; i < 4; i++) {
        COUNT(MPI_Irecv, in + i * 4096, 1000, MPI_CHAR, i % 2 ? left : MPI_ANY_SOURCE, i, comm, &r[i]);
        gets(i * 10);
    }
    for (int i = 0; i < 4; i++) {
        COUNT(MPI_Isend, out, i * 10, MPI_CHAR, right, i, comm, &r[4 + i]);
        sends(world[right], i * 10);
    }
    COUNT(MPI_Waitall, 8, r, MPI_STATUSES_IGNORE);
    COUNT(MPI_Irecv, in, 50, MPI_SHORT, left, 7, comm, &r[0]);
    COUNT(MPI_Issend, out, 7, MPI_SHORT, right, 7, comm, &r[1]);
    COUNT(MPI_Wait, &r[0], MPI_STATUS_IGNORE);
    COUNT(MPI_Wait, &r[1], status);
    sends(world[right], 14), gets(14);
    COUNT(MPI_Irecv, in, 1, MPI_DOUBLE, left, 8, comm, &r[0]);
    COUNT(MPI_Irecv, in + 8, 1, MPI_DOUBLE, MPI_PROC_NULL, 8, comm, &r[1]);
    COUNT(MPI_Isend, out, 1, MPI_DOUBLE, right, 8, comm, &r[2]);
    sends(world[right], 8), gets(8);
    for (int left_over = 3; left_over; left_over--)
        COUNT(MPI_Waitany, 3, r, &index, left_over % 2 ? MPI_STATUS_IGNORE : status);
    COUNT(MPI_Irecv, in, 1, MPI_INT, left, 99, comm, &r[0]); /* what is cancelled has not come */
    COUNT(MPI_Cancel, &r[0]);
    COUNT(MPI_Wait, &r[0], MPI_STATUS_IGNORE);
    COUNT(MPI_Irecv, in, 2, MPI_DOUBLE, left, 9, comm, &r[0]);
    COUNT(MPI_Isend, out, 2, MPI_DOUBLE, right, 9, comm, &r[1]);
    sends(world[right], 16), gets(16);
    for (done = 0; done < 2;) {
        COUNT(MPI_Testsome, 2, r, &index, some, MPI_STATUSES_IGNORE);
        done += index == MPI_UNDEFINED ? 0 : index;
    }
    COUNT(MPI_Irecv, in, 2, MPI_DOUBLE, left, 10, comm, &r[0]);
    COUNT(MPI_Isend, out, 2, MPI_DOUBLE, right, 10, comm, &r[1]);
    sends(world[right], 16), gets(16);
    for (flag = 0; !flag;)
        COUNT(MPI_Test, &r[0], &flag, status);
    for (flag = 0; !flag;)
        COUNT(MPI_Testall, 1, &r[1], &flag, MPI_STATUSES_IGNORE);
    COUNT(MPI_Isend, out, 5, MPI_CHAR, right, 11, comm, &r[0]);
    COUNT(MPI_Mprobe, left, 11, comm, &message, status);
    COUNT(MPI_Mrecv, in, 100, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    COUNT(MPI_Wait, &r[0], MPI_STATUS_IGNORE);
    sends(world[right], 5), gets(5);
    COUNT(MPI_Isend, out, 6, MPI_CHAR, right, 11, comm, &r[0]);
    COUNT(MPI_Mprobe, left, 11, comm, &message, MPI_STATUS_IGNORE);
    COUNT(MPI_Imrecv, in, 100, MPI_CHAR, &message, &r[1]);
    COUNT(MPI_Waitall, 2, r, status);
    sends(world[right], 6), gets(6);
#if MPI_VERSION >= 4 /* MPICH 4.0 gives a status of anything: what is received is not known */
    COUNT(MPI_Isendrecv, out, 7, MPI_CHAR, right, 12, in, 100, MPI_CHAR, left, 12, comm, &r[0]);
    COUNT(MPI_Wait, &r[0], status);
    sends(world[right], 7);
#endif
    COUNT(MPI_Send, out, 1000, MPI_INT, MPI_PROC_NULL, 0, comm);
    COUNT(MPI_Recv, in, 1000, MPI_INT, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE);
}

/* So many requests at a time that their table has them in each other's way. */
static void many(MPI_Comm comm, const int *world, int right, int left)
{
    enum { MANY = 180, STRIDE = 7 };
    MPI_Request r[2 * MANY];

    for (int i = 0; i < MANY; i++)
        COUNT(MPI_Irecv, in + 4 * i, 1, MPI_INT, left, 100 + i, comm, &r[i]);
    for (int i = 0; i < MANY; i++) {
        COUNT(MPI_Isend, out, 1, MPI_INT, right, 100 + i, comm, &r[MANY + i]);
        sends(world[right], 4), gets(4);
    }
    COUNT(MPI_Waitall, MANY, r + MANY, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        COUNT(MPI_Wait, &r[i * STRIDE % MANY], MPI_STATUS_IGNORE);
}

/* Sends that block, from lower to higher ranks. */
static __attribute__((noinline)) void blocking(MPI_Comm comm, const int *world, int rank, int n)
{
    MPI_Datatype column, pair;
    MPI_Status status;

    COUNT(MPI_Type_vector, 4, 2, 8, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Type_contiguous(3, MPI_SHORT, &pair);
    MPI_Type_commit(&pair);
    if (rank > 0) {
        COUNT(MPI_Recv, in, 2, column, rank - 1, 3, comm, &status);
        COUNT(MPI_Recv, in, 100, pair, MPI_ANY_SOURCE, 4, comm, MPI_STATUS_IGNORE);
        COUNT(MPI_Recv, in, 100, MPI_BYTE, rank - 1, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
        gets(2 * 64 + 5 * 6);
    }
    if (rank + 1 < n) {
        COUNT(MPI_Ssend, out, 2, column, rank + 1, 3, comm);
        sends(world[rank + 1], 128);
        COUNT(MPI_Bsend, out, 5, pair, rank + 1, 4, comm);
        sends(world[rank + 1], 30);
        COUNT(MPI_Send, out, 0, MPI_BYTE, rank + 1, 5, comm);
        sends(world[rank + 1], 0);
    }
    MPI_Type_free(&column);
    MPI_Type_free(&pair);
}

static __attribute__((noinline)) void persistent(MPI_Comm comm, const int *world, int rank, int n)
{
    int right = (rank + 1) % n, left = (rank + n - 1) % n, flag;
    MPI_Request r[2];

    COUNT(MPI_Send_init, out, 11, MPI_INT, right, 6, comm, &r[0]);
    COUNT(MPI_Recv_init, in, 20, MPI_INT, left, 6, comm, &r[1]);
    for (int i = 0; i < 3; i++) {
        COUNT(MPI_Startall, 2, r);
        COUNT(MPI_Waitall, 2, r, MPI_STATUSES_IGNORE);
        sends(world[right], 44), gets(44);
    }
    COUNT(MPI_Start, &r[1]);
    COUNT(MPI_Start, &r[0]);
    COUNT(MPI_Wait, &r[1], MPI_STATUS_IGNORE);
    COUNT(MPI_Wait, &r[0], MPI_STATUS_IGNORE);
    COUNT(MPI_Wait, &r[1], MPI_STATUS_IGNORE); /* it is not started */
    sends(world[right], 44), gets(44);
    COUNT(MPI_Start, &r[1]);
    COUNT(MPI_Test, &r[1], &flag, MPI_STATUS_IGNORE); /* nobody has sent yet: it goes on */
    COUNT(MPI_Barrier, comm);
    COUNT(MPI_Startall, 1, r);
    COUNT(MPI_Waitall, 2, r, MPI_STATUSES_IGNORE);
    sends(world[right], 44), gets(44);
    COUNT(MPI_Request_free, &r[0]);
    COUNT(MPI_Request_free, &r[1]);
    many(comm, world, right, left);
#if MPI_VERSION >= 4
    COUNT(MPI_Psend_init, out, 4, 5, MPI_INT, right, 6, comm, MPI_INFO_NULL, &r[0]);
    COUNT(MPI_Precv_init, in, 2, 10, MPI_INT, left, 6, comm, MPI_INFO_NULL, &r[1]);
    for (int i = 0; i < 2; i++) {
        COUNT(MPI_Startall, 2, r);
        COUNT(MPI_Pready_range, 0, 3, r[0]);
        COUNT(MPI_Waitall, 2, r, MPI_STATUSES_IGNORE);
        sends(world[right], 80), gets(80);
    }
    COUNT(MPI_Request_free, &r[0]);
    COUNT(MPI_Request_free, &r[1]);
#endif
}

static __attribute__((noinline)) void collectives(MPI_Comm comm, const int *world, int rank, int n)
{
    int root = n - 1, counts[MOST], other[MOST], place[MOST];
    MPI_Datatype types[MOST];
    MPI_Request r;

#define TO_OTHERS(first, amount) \
    for (int i = first; i < n; i++) \
        if (i != rank) \
            sends(world[i], amount);
    COUNT(MPI_Barrier, comm);
    COUNT(MPI_Bcast, in, 9, MPI_INT, root, comm);
    if (rank == root) {
        TO_OTHERS(0, 36)
    } else {
        gets(36);
    }
    for (int i = 0; i < n; i++) {
        counts[i] = i + 1; /* what rank i has */
        place[i] = i * 128;
        types[i] = i % 2 ? MPI_INT : MPI_DOUBLE;
    }
    COUNT(MPI_Gather, rank == root ? MPI_IN_PLACE : out, 5, MPI_INT, in, 5, MPI_INT, root, comm);
    COUNT(MPI_Gatherv, out, counts[rank], MPI_INT, in, counts, place, MPI_INT, root, comm);
    COUNT(MPI_Reduce, rank == root ? MPI_IN_PLACE : in, in, 6, MPI_INT, MPI_SUM, root, comm);
    if (rank == root)
        gets((n - 1) * (20 + 24) + 4 * (n * (n + 1) / 2 - counts[rank]));
    else
        sends(world[root], 20), sends(world[root], 4 * counts[rank]), sends(world[root], 24);
    COUNT(MPI_Scatter, out, 3, MPI_SHORT, in, 3, MPI_SHORT, 0, comm);
    COUNT(MPI_Scatterv, out, counts, place, MPI_SHORT, in, counts[rank], MPI_SHORT, 0, comm);
    if (rank == 0) {
        TO_OTHERS(1, 6)
        TO_OTHERS(1, 2 * counts[i])
    } else {
        gets(6 + 2 * counts[rank]);
    }
    COUNT(MPI_Allgather, out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, comm);
    COUNT(MPI_Allgather, MPI_IN_PLACE, 77, MPI_INT, in, 2, MPI_DOUBLE, comm);
    COUNT(MPI_Allreduce, out, in, 4, MPI_INT, MPI_MAX, comm);
    COUNT(MPI_Allreduce, MPI_IN_PLACE, in, 4, MPI_INT, MPI_MAX, comm);
    COUNT(MPI_Alltoall, out, 8, MPI_CHAR, in, 8, MPI_CHAR, comm);
    COUNT(MPI_Alltoall, MPI_IN_PLACE, 0, MPI_INT, in, 2, MPI_DOUBLE, comm);
    COUNT(MPI_Reduce_scatter_block, out, in, 5, MPI_INT, MPI_SUM, comm);
    for (int amount = 0; amount < 7; amount++)
        TO_OTHERS(0, ((int[]){16, 16, 16, 16, 8, 16, 20}[amount]))
    gets((n - 1) * (16 * 5 + 8 + 20));
    COUNT(MPI_Allgatherv, out, counts[rank], MPI_INT, in, counts, place, MPI_INT, comm);
    COUNT(MPI_Allgatherv, MPI_IN_PLACE, 0, MPI_INT, in, counts, place, MPI_INT, comm);
    for (int i = 0; i < 2; i++)
        TO_OTHERS(0, 4 * counts[rank])
    gets(2 * 4 * (n * (n + 1) / 2 - counts[rank]));
    for (int i = 0; i < n; i++) {
        counts[i] = rank * 3 + i; /* from here to i */
        other[i] = i * 3 + rank;
    }
    COUNT(MPI_Alltoallv, out, counts, place, MPI_SHORT, in, other, place, MPI_SHORT, comm);
    TO_OTHERS(0, 2 * counts[i])
    for (int i = 0; i < n; i++)
        gets(i == rank ? 0 : 2 * other[i]);
    for (int i = 0; i < n; i++) {
        place[i] *= 8;
        counts[i] = other[i] = 1;
        types[i] = (i + rank) % 2 ? MPI_INT : MPI_DOUBLE;
    }
    COUNT(MPI_Alltoallw, out, counts, place, types, in, other, place, types, comm);
    for (int i = 0; i < n; i++)
        if (i != rank)
            sends(world[i], (i + rank) % 2 ? 4 : 8), gets((i + rank) % 2 ? 4 : 8);
    for (int i = 0; i < n; i++)
        counts[i] = i + 1;
    COUNT(MPI_Reduce_scatter, out, in, counts, MPI_INT, MPI_SUM, comm);
    TO_OTHERS(0, 4 * counts[i])
    gets((n - 1) * 4 * counts[rank]);
    COUNT(MPI_Scan, out, in, 7, MPI_INT, MPI_SUM, comm);
    COUNT(MPI_Exscan, out, in, 7, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < 2; i++)
        TO_OTHERS(rank + 1, 28)
    gets(2 * rank * 28);
    COUNT(MPI_Iallreduce, out, in, 4, MPI_INT, MPI_MAX, comm, &r);
    COUNT(MPI_Wait, &r, MPI_STATUS_IGNORE);
    TO_OTHERS(0, 16)
    gets((n - 1) * 16);
    COUNT(MPI_Ibarrier, comm, &r);
    COUNT(MPI_Wait, &r, MPI_STATUS_IGNORE);
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
    COUNT(MPIX_Scan_init, out, in, 3, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r);
#elif MPI_VERSION >= 4
    COUNT(MPI_Scan_init, out, in, 3, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r);
#else
    return;
#endif
    for (int i = 0; i < 2; i++) {
        COUNT(MPI_Start, &r);
        COUNT(MPI_Wait, &r, MPI_STATUS_IGNORE);
        TO_OTHERS(rank + 1, 12)
        gets(rank * 12);
    }
    COUNT(MPI_Request_free, &r);
}

/* What goes from one rank to another, and of which type. */
#define AMOUNT(from, to) ((from)*3 + (to) + 1)
#define TYPE(from, to)   (((from) + (to)) % 2 ? MPI_INT : MPI_DOUBLE)
#define SIZE(from, to)   (((from) + (to)) % 2 ? 4 : 8)
#define IS_OTHER(peer)   ((peer) != MPI_PROC_NULL && (peer) != rank)

/* The collectives of neighbours: ranks of `comm` that this one receives from and sends to, in their order. */
static void to_neighbours(MPI_Comm comm, const int *world, int rank, const int *from, int from_count, const int *to,
                          int to_count)
{
    int here[MOST], there[MOST], place[MOST], own[MOST], times = 2;
    MPI_Aint places[MOST];
    MPI_Datatype types_here[MOST], types_there[MOST];
    MPI_Request r;

    for (int i = 0; i < MOST; i++) {
        place[i] = i * 64;
        places[i] = i * 512;
    }
    for (int i = 0; i < from_count; i++) {
        here[i] = from[i] < 0 ? 0 : AMOUNT(from[i], rank);
        types_here[i] = TYPE(from[i] & 1, rank);
        own[i] = from[i] < 0 ? 0 : from[i] + 1;
    }
    for (int i = 0; i < to_count; i++) {
        there[i] = to[i] < 0 ? 0 : AMOUNT(rank, to[i]);
        types_there[i] = TYPE(rank, to[i] & 1);
    }
    COUNT(MPI_Neighbor_allgather, out, 5, MPI_INT, in, 5, MPI_INT, comm);
    COUNT(MPI_Neighbor_alltoall, out, 3, MPI_SHORT, in, 6, MPI_CHAR, comm);
    COUNT(MPI_Neighbor_allgatherv, out, rank + 1, MPI_INT, in, own, place, MPI_INT, comm);
    COUNT(MPI_Neighbor_alltoallv, out, there, place, MPI_SHORT, in, here, place, MPI_SHORT, comm);
    COUNT(MPI_Neighbor_alltoallw, out, there, places, types_there, in, here, places, types_here, comm);
    COUNT(MPI_Ineighbor_allgather, out, 5, MPI_INT, in, 5, MPI_INT, comm, &r);
    COUNT(MPI_Wait, &r, MPI_STATUS_IGNORE);
    COUNT(MPI_Ineighbor_alltoall, out, 3, MPI_SHORT, in, 6, MPI_CHAR, comm, &r);
    COUNT(MPI_Wait, &r, MPI_STATUS_IGNORE);
    COUNT(MPI_Ineighbor_allgatherv, out, rank + 1, MPI_INT, in, own, place, MPI_INT, comm, &r);
    COUNT(MPI_Wait, &r, MPI_STATUS_IGNORE);
    COUNT(MPI_Ineighbor_alltoallv, out, there, place, MPI_SHORT, in, here, place, MPI_SHORT, comm, &r);
    COUNT(MPI_Wait, &r, MPI_STATUS_IGNORE);
    COUNT(MPI_Ineighbor_alltoallw, out, there, places, types_there, in, here, places, types_here, comm, &r);
    COUNT(MPI_Wait, &r, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
    COUNT(MPI_Neighbor_alltoallv_init, out, there, place, MPI_SHORT, in, here, place, MPI_SHORT, comm, MPI_INFO_NULL,
          &r);
    for (int i = 0; i < 3; i++) {
        COUNT(MPI_Start, &r);
        COUNT(MPI_Wait, &r, MPI_STATUS_IGNORE);
        for (int k = 0; k < to_count; k++)
            if (IS_OTHER(to[k]))
                sends(world[to[k]], 2 * there[k]);
        for (int k = 0; k < from_count; k++)
            gets(IS_OTHER(from[k]) ? 2 * here[k] : 0);
    }
    COUNT(MPI_Request_free, &r);
#endif
    for (int i = 0; i < times * to_count; i++) {
        int peer = to[i / times];

        if (!IS_OTHER(peer))
            continue;
        sends(world[peer], 20), sends(world[peer], 6), sends(world[peer], 4 * (rank + 1));
        sends(world[peer], 2 * AMOUNT(rank, peer)), sends(world[peer], SIZE(rank, peer) * AMOUNT(rank, peer));
    }
    for (int i = 0; i < times * from_count; i++) {
        int peer = from[i / times];

        if (IS_OTHER(peer))
            gets(26 + 4 * (peer + 1) + (2 + SIZE(peer, rank)) * AMOUNT(peer, rank));
    }
}

static __attribute__((noinline)) void neighbours(MPI_Comm comm, const int *world, int rank, int n)
{
    int weights[MOST], low[MOST], high[MOST], ends[MOST], edges[2 * MOST],
        ring[4] = {(rank + n - 1) % n, (rank + 1) % n};
    MPI_Comm other;

    for (int periodic = 0; periodic < 2; periodic++) {
        int grid[] = {n, 1}, around[] = {periodic, 0}, open[4];

        COUNT(MPI_Cart_create, comm, 2, grid, around, 0, &other);
        memcpy(open, ring, sizeof open);
        open[0] = !periodic && rank == 0 ? MPI_PROC_NULL : ring[0];
        open[1] = !periodic && rank == n - 1 ? MPI_PROC_NULL : ring[1];
        open[2] = open[3] = MPI_PROC_NULL;
        to_neighbours(other, world, rank, open, 4, open, 4);
        COUNT(MPI_Comm_free, &other);
    }
    for (int i = 0; i < n; i++) {
        ends[i] = 2 * (i + 1);
        edges[2 * i] = (i + n - 1) % n;
        edges[2 * i + 1] = (i + 1) % n;
        weights[i] = 1;
        low[i] = i;
        high[i] = rank + 1 + i;
    }
    COUNT(MPI_Graph_create, comm, n, ends, edges, 0, &other);
    to_neighbours(other, world, rank, ring, 2, ring, 2);
    COUNT(MPI_Comm_free, &other);
    /* MPICH 4.0.2 says "Invalid communicator" or stands still where some have no one to receive from: without hq in 10
     * of 16 runs if its calls are delayed at random. */
#ifdef OPEN_MPI
    for (int weighted = 0; weighted < 2; weighted++) {
        COUNT(MPI_Dist_graph_create_adjacent, comm, rank, low, weighted ? weights : MPI_UNWEIGHTED, n - 1 - rank, high,
              weighted ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &other);
        to_neighbours(other, world, rank, low, rank, high, n - 1 - rank);
        COUNT(MPI_Comm_free, &other);
    }
#endif
}

static void *in_thread(void *argument)
{
    MPI_Comm comm = *(MPI_Comm *)argument;
    int right = (me + 1) % size, left = (me + size - 1) % size, number;
    MPI_Request r;

    for (int i = 0; i < 4; i++) {
        COUNT(MPI_Irecv, &number, 1, MPI_INT, left, 12, comm, &r);
        COUNT(MPI_Send, &i, 1, MPI_INT, right, 12, comm);
        COUNT(MPI_Wait, &r, MPI_STATUS_IGNORE);
        sends(right, 4), gets(4);
    }
    return NULL;
}

static __attribute__((noinline)) void threads(void)
{
    MPI_Comm comm[2];
    pthread_t thread[2];

    for (int i = 0; i < 2; i++)
        COUNT(MPI_Comm_dup, MPI_COMM_WORLD, &comm[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, in_thread, &comm[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 2; i++)
        COUNT(MPI_Comm_free, &comm[i]);
}

static __attribute__((noinline)) void all_of(MPI_Comm comm, int rank, int n)
{
    MPI_Group mine, all;
    int world[MOST], local[MOST];

    PMPI_Comm_group(comm, &mine);
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int i = 0; i < n; i++)
        local[i] = i;
    PMPI_Group_translate_ranks(mine, n, local, all, world);
    PMPI_Group_free(&mine);
    PMPI_Group_free(&all);
    point_to_point(comm, world, rank, n);
    blocking(comm, world, rank, n);
    persistent(comm, world, rank, n);
    collectives(comm, world, rank, n);
    neighbours(comm, world, rank, n);
}

static void report(void)
{
    long long all[MOST * 2 + 1], *gathered = calloc((size_t)size, sizeof all), sum;
    long long times[NAMES];

    for (int i = 0; i < MOST; i++) {
        all[2 * i] = messages[i];
        all[2 * i + 1] = bytes_to[i];
    }
    all[2 * MOST] = received;
    PMPI_Gather(all, MOST * 2 + 1, MPI_LONG_LONG, gathered, MOST * 2 + 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    for (int i = 0; i < NAMES; i++) {
        /* Ranks meet the names in one order, but those that only some call. */
        char name[64] = "";
        if (calls[i].name)
            strcpy(name, calls[i].name);
        PMPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
        times[i] = 0;
        for (int k = 0; k < NAMES; k++)
            if (calls[k].name && !strcmp(calls[k].name, name))
                times[i] = calls[k].times;
        PMPI_Reduce(&times[i], &sum, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
        if (me == 0 && *name && strcmp(name, "MPI_Type_vector"))
            printf("call %s %lld\n", name, sum);
    }
    for (int from = 0; from < size && me == 0; from++) {
        const long long *row = gathered + from * (MOST * 2 + 1);
        for (int to = 0; to < size; to++)
            if (row[2 * to])
                printf("message %d %d %lld %lld\n", from, to, row[2 * to], row[2 * to + 1]);
        sum = 0;
        for (int to = 0; to < size; to++)
            sum += row[2 * to + 1];
        printf("sent %d %lld\nreceived %d %lld\n", from, sum, from, row[2 * MOST]);
    }
    free(gathered);
}

int main(int argc, char *argv[])
{
    int provided, rounds = argc > 1 ? atoi(argv[1]) : 1, rank, n;
    static char buffer[1 << 16];
    MPI_Comm half;
    void *detached;

    COUNT(MPI_Init_thread, &argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    COUNT(MPI_Buffer_attach, buffer, sizeof buffer);
    for (int i = 0; i < rounds; i++) {
        all_of(MPI_COMM_WORLD, me, size);
        /* Ranks in reverse order, so that those of the halves are other ones than those of the world. */
        COUNT(MPI_Comm_split, MPI_COMM_WORLD, me % 2, -me, &half);
        MPI_Comm_rank(half, &rank);
        MPI_Comm_size(half, &n);
        all_of(half, rank, n);
        COUNT(MPI_Comm_free, &half);
        if (provided == MPI_THREAD_MULTIPLE)
            threads();
    }
    COUNT(MPI_Buffer_detach, &detached, &provided);
    counted("MPI_Finalize");
    report();
    MPI_Finalize();
    return 0;
}
