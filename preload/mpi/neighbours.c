/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/mpi/neighbours.h"

#include "preload/raw.h"

struct topology {
    struct neighbours neighbours;
    size_t bytes; /* of all of this */
    int ranks[];
};

/* Room for so many ranks, with nobody among the neighbours. */
static struct topology *room_for(size_t ranks)
{
    size_t bytes = sizeof(struct topology) + ranks * sizeof(int);
    struct topology *t = raw_memory(bytes);

    if (t)
        t->bytes = bytes;
    return t;
}

/* Room for ranks that are both received from and sent to. */
static struct topology *room_both_ways(int count)
{
    struct topology *t = count >= 0 ? room_for((size_t)count) : NULL;

    if (t)
        t->neighbours = (struct neighbours){count, count, t->ranks, t->ranks};
    return t;
}

static struct topology *drop(struct topology *t)
{
    if (t)
        raw_munmap(t, t->bytes);
    return NULL;
}

/* A grid: below and above in each dimension, to send to and to receive from. */
static struct topology *in_grid(const struct mpi *mpi, uintptr_t comm)
{
    int dimensions = 0, failed = mpi->cartdim_get(comm, &dimensions);
    struct topology *t = failed ? NULL : room_both_ways(2 * dimensions);

    if (!t)
        return NULL;
    for (int d = 0; d < dimensions && !failed; d++)
        failed = mpi->cart_shift(comm, d, 1, &t->ranks[2 * d], &t->ranks[2 * d + 1]);
    return failed ? drop(t) : t;
}

static struct topology *in_graph(const struct mpi *mpi, uintptr_t comm, int rank)
{
    int count = 0, failed = mpi->graph_neighbors_count(comm, rank, &count);
    struct topology *t = failed ? NULL : room_both_ways(count);

    if (!t)
        return NULL;
    failed = mpi->graph_neighbors(comm, rank, count, t->ranks);
    return failed ? drop(t) : t;
}

static struct topology *in_dist_graph(const struct mpi *mpi, uintptr_t comm)
{
    int from = 0, to = 0, weighted, failed = mpi->dist_graph_neighbors_count(comm, &from, &to, &weighted);
    struct topology *t = failed || from < 0 || to < 0 ? NULL : room_for(2 * ((size_t)from + (size_t)to));
    int *weights;

    if (!t)
        return NULL;
    t->neighbours = (struct neighbours){from, to, t->ranks, t->ranks + from};
    weights = t->ranks + from + to;
    failed = mpi->dist_graph_neighbors(comm, from, t->ranks, weights, to, t->ranks + from, weights + from);
    return failed ? drop(t) : t;
}

static struct topology *ask(const struct mpi *mpi, const struct comm *comm)
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
    if (!comm->topology_asked && !comm->inter)
        comm->topology = ask(mpi, comm);
    comm->topology_asked = true;
    return comm->topology ? &comm->topology->neighbours : NULL;
}

void neighbours_forget(struct comm *comm)
{
    comm->topology = drop(comm->topology);
}
