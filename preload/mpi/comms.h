/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators: which ranks of MPI_COMM_WORLD are behind the ranks of one. */
#ifndef HQ_PRELOAD_MPI_COMMS_H
#define HQ_PRELOAD_MPI_COMMS_H

#include "preload/mpi/abi.h"

struct topology; /* neighbours.c */

struct comm {
    uintptr_t handle;
    _Atomic unsigned holders; /* the program, until it frees it, and requests that are not complete */
    int rank;                 /* of this process in it */
    int peers; /* size of the group that it sends to: its own, or the remote one of an intercommunicator */
    bool inter;
    uint32_t
        group; /* text of the measurement file with the members of that group, as "0-3,7"; 0: some are of no rank */
    uint32_t above; /* likewise, of those with a higher rank than this process; 0: not asked for yet, or as above */
    bool topology_asked;
    struct topology *topology; /* NULL: not asked for yet, or none */
    int world[];               /* of each of the peers: its rank in MPI_COMM_WORLD, -1: it has none */
};

/* Returns the description of a communicator; NULL if MPI does not tell, or there is no memory. It is valid until
 * comm_forget. */
struct comm *comm_find(const struct mpi *mpi, uintptr_t handle);

/* As comm_find, for a request, which may be completed after the program has freed its communicator: valid until
 * comm_release. */
struct comm *comm_hold(const struct mpi *mpi, uintptr_t handle);
void comm_release(struct comm *comm); /* of NULL, too */

/* The ranks above this process. */
uint32_t comm_above(struct comm *comm);

/* The program frees it: its handle may soon be that of another one. */
void comm_forget(const struct mpi *mpi, uintptr_t handle);

/* The rank of one of the peers in MPI_COMM_WORLD, -1: none. */
static inline int comm_world_rank(const struct comm *comm, int peer)
{
    return peer >= 0 && peer < comm->peers ? comm->world[peer] : -1;
}

#endif
