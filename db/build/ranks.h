/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI ranks among which a build is split: `mpirun -n N hq build DB`. Without a launcher there is one. */
#ifndef HQ_DB_BUILD_RANKS_H
#define HQ_DB_BUILD_RANKS_H

#include "db/coded.h"
#include <stddef.h>

struct hq_mpi;

struct ranks {
    int rank, size;
    const struct hq_mpi *mpi; /* NULL: alone */
};

/*
 * Joins the other ranks if a launcher of MPICH or Open MPI started this process. Where the library for it was not
 * built, this is a rank of its own: then one of them builds under the lock and the others find it done.
 */
void ranks_start(struct ranks *r);
void ranks_end(struct ranks *r);

/* Sends all of b to rank `to`, which receives it. */
void ranks_send(const struct ranks *r, const struct bytes *b, int to);
/* Replaces the content of b. */
void ranks_receive(const struct ranks *r, struct bytes *b, int from);
/* Rank 0's content goes to all. */
void ranks_broadcast(const struct ranks *r, struct bytes *b);
/* Ends all ranks with an exit status, after this one has said why. */
void ranks_abort(const struct ranks *r, int status);

#endif
