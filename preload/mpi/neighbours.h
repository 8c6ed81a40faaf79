/* SPDX-License-Identifier: BSD-3-Clause */
/* Whom a process of a communicator with a topology (a grid or a graph) sends to and receives from by the collectives of
 * neighbours. */
#ifndef HQ_PRELOAD_MPI_NEIGHBOURS_H
#define HQ_PRELOAD_MPI_NEIGHBOURS_H

#include "preload/mpi/comms.h"

/* Ranks of the communicator, in the order of the blocks of the calls; one may be there more than once, and at the edge
 * of a grid stands MPI_PROC_NULL. */
struct neighbours {
    int from_count, to_count;
    const int *from, *to;
};

/* NULL if it has no topology, MPI does not tell, or there is no memory. Valid as long as the communicator. */
const struct neighbours *neighbours_of(const struct mpi *mpi, struct comm *comm);

/* Frees them. */
void neighbours_forget(struct comm *comm);

#endif
