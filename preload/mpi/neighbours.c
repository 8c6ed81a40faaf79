/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/mpi/neighbours.h"

#include "preload/raw.h"

struct known {
    struct neighbours neighbours;
    size_t bytes; /* of all of this */
    int ranks[];
};

/* Room for the ranks that are received from and sent to, and for as many more. */
static struct known *room_for(int from, int to, size_t more)
{
    size_t bytes = sizeof(struct known) + ((size_t)from + (size_t)to + more) * sizeof(int);
    struct known *k = from >= 0 && to >= 0 ? raw_memory(bytes) : NULL;

    if (k) {
        k->neighbours = (struct neighbours){from, to, k->ranks, k->ranks + from};
        k->bytes = bytes;
    }
    return k;
}

static struct known *drop(struct known *k)
{
    if (k)
        raw_munmap(k, k->bytes);
    return NULL;
}

/* A grid: below and above in each dimension, to send to and to receive from. */
static struct known *in_grid(const struct mpi *mpi, uintptr_t comm)
{
    int dimensions = 0, failed = mpi->cartdim_get(comm, &dimensions);
    struct known *k = failed ? NULL : room_for(2 * dimensions, 0, 0);

    if (!k)
        return NULL;
    for (int d = 0; d < dimensions && !failed; d++)
        failed = mpi->cart_shift(comm, d, 1, &k->ranks[2 * d], &k->ranks[2 * d + 1]);
    k->neighbours.to_count = 2 * dimensions;
    k->neighbours.to = k->ranks;
    return failed ? drop(k) : k;
}

static struct known *in_graph(const struct mpi *mpi, uintptr_t comm, int rank)
{
    int count = 0, failed = mpi->graph_neighbors_count(comm, rank, &count);
    struct known *k = failed ? NULL : room_for(count, 0, 0);

    if (!k)
        return NULL;
    failed = mpi->graph_neighbors(comm, rank, count, k->ranks);
    k->neighbours.to_count = count;
    k->neighbours.to = k->ranks;
    return failed ? drop(k) : k;
}

static struct known *in_dist_graph(const struct mpi *mpi, uintptr_t comm)
{
    int from = 0, to = 0, weighted, failed = mpi->dist_graph_neighbors_count(comm, &from, &to, &weighted);
    struct known *k = failed ? NULL : room_for(from, to, (size_t)from + (size_t)to);
    int *weights;

    if (!k)
        return NULL;
    weights = k->ranks + from + to;
    failed = mpi->dist_graph_neighbors(comm, from, k->ranks, weights, to, k->ranks + from, weights + from);
    return failed ? drop(k) : k;
}

static struct known *ask(const struct mpi *mpi, const struct comm *comm)
{
    int topology = 0;

    if (mpi->topo_test(comm->handle, &topology))
        return NULL;
    if (topology == mpi->abi->grid)
        return in_grid(mpi, comm->handle);
    if (topology == mpi->abi->graph)
        return in_graph(mpi, comm->handle, comm->rank);
    return topology == mpi->abi->dist_graph ? in_dist_graph(mpi, comm->handle) : NULL;
}

const struct neighbours *neighbours_of(const struct mpi *mpi, struct comm *comm)
{
    if (!comm->neighbours && !comm->inter)
        comm->neighbours = ask(mpi, comm);
    return comm->neighbours ? &comm->neighbours->neighbours : NULL;
}

void neighbours_forget(struct comm *comm)
{
    comm->neighbours = drop(comm->neighbours);
}
