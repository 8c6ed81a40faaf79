/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives: the bytes that have come stand in a status when the call that completes them returns. Where the program
 * wants none (MPI_STATUS_IGNORE) one of ours is handed to MPI instead.
 */
#ifndef HQ_PRELOAD_MPI_COMPLETE_H
#define HQ_PRELOAD_MPI_COMPLETE_H

#include "preload/mpi/call.h"
#include "preload/mpi/requests.h"

enum { COMPLETE_ROOM = 16, COMPLETE_STATUS = 32 /* bytes, more than any MPI's */ };

struct completion {
    int requests;          /* that the call is given */
    struct request *taken; /* of each; handle 0: it is none that tells anything */
    struct comm *message;  /* of a matched receive: the communicator, held; NULL: not known */
    int status;            /* argument of the status or statuses, -1 none */
    char *statuses;        /* where they will stand; NULL: nobody looks */
    char *memory;          /* for these two where they have no room here; NULL: they have */
    size_t memory_bytes;
    bool in_status; /* the call has failed, and each status has an error of its own */
    struct request own_taken[COMPLETE_ROOM];
    char own_statuses[COMPLETE_ROOM * COMPLETE_STATUS];
};

/* Before and after the call; between them `c->word` may have a status of ours. `error`: what the call returned. */
void complete_before(struct completion *x, struct call *c);
void complete_after(struct completion *x, const struct call *c, int error, struct flow *flow);

#endif
