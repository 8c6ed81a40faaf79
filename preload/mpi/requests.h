/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that are still to tell something: receives, whose bytes a status tells when they are completed, and
 * persistent ones, which move something each time they are started. A request is not kept if there is no memory for it.
 */
#ifndef HQ_PRELOAD_MPI_REQUESTS_H
#define HQ_PRELOAD_MPI_REQUESTS_H

#include "preload/mpi/comms.h"
#include "preload/sources/exact.h"

#include <stddef.h>

/* The data that a call moves. */
struct flow {
    uint64_t sent, received; /* bytes */
    struct exact_message *messages;
    size_t count, room;
};

struct request {
    uintptr_t handle;
    struct comm *comm; /* of a receive, held: the source is told in its ranks; NULL: not known */
    bool receives;     /* a status tells what came */
    bool persistent, started;
    struct flow *flow; /* of a persistent one; NULL: nothing is told */
};

/* Takes the place of one of the same handle, whose flow is freed. The communicator is held by the one that is added. */
void request_add(const struct request *request);

/* A persistent one is started: what it moves, NULL if nothing is told. */
const struct flow *request_start(uintptr_t handle);

/* A call that may complete a request takes it before, and gives it back if it has not; for after it the handle may be
 * that of another one. False if it is none of these, or a persistent one that is not started. */
bool request_take(uintptr_t handle, struct request *request);
void request_give_back(const struct request *request);

/* One that was taken is complete: a persistent one stays. */
void request_finish(const struct request *request);

/* The program frees it. */
void request_forget(uintptr_t handle);

/* None is kept, so that nothing needs to be looked at. */
bool requests_none(void);

#endif
