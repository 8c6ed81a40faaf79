/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes what a call moves, by its arguments: who sends how many bytes to whom. Of a collective it is what its
 * definition in the standard moves from one rank to another, however the library does it; bytes that a rank gives to
 * itself are not counted.
 *
 *     Bcast, Scatter(v)           root to each other
 *     Gather(v), Reduce           each other to root
 *     Allgather(v), Allreduce     each to each other: what it contributes
 *     Alltoall(v, w)              each to each other: the block for it
 *     Reduce_scatter(_block)      each to each other: what is reduced for it
 *     Scan, Exscan                each to those of a higher rank
 *     Neighbor_*                  each to its neighbours: a message for each time that one is there
 */
#ifndef HQ_PRELOAD_MPI_FLOW_H
#define HQ_PRELOAD_MPI_FLOW_H

#include "preload/mpi/call.h"
#include "preload/mpi/comms.h"
#include "preload/mpi/requests.h"

/* Adds what a call moves that has a shape of these: SEND, SEND_INIT, PSEND_INIT, the sending half of the SENDRECVs,
 * collectives. */
void flow_add(struct flow *flow, const struct call *c);

/* Adds another one, or a message that was received: from a rank of a communicator, which may be NULL. */
void flow_add_flow(struct flow *flow, const struct flow *other);
void flow_add_received(struct flow *flow, const struct comm *comm, int source, uint64_t bytes);

/* A copy that stays; NULL if there is no memory or nothing in it. */
struct flow *flow_keep(const struct flow *flow);

#endif
