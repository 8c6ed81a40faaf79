/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/mpi/flow.h"

#include "preload/mpi/neighbours.h"
#include "preload/raw.h"

#include <string.h>

static struct exact_message *next(struct flow *flow)
{
    if (flow->count == flow->room) {
        size_t larger = flow->room ? flow->room * 2 : 64;
        struct exact_message *memory = raw_memory(larger * sizeof *memory);

        if (!memory)
            return NULL;
        if (flow->messages) {
            memcpy(memory, flow->messages, flow->count * sizeof *memory);
            raw_munmap(flow->messages, flow->room * sizeof *memory);
        }
        flow->messages = memory;
        flow->room = larger;
    }
    return &flow->messages[flow->count++];
}

static void add_message(struct flow *flow, struct exact_message message)
{
    struct exact_message *m = next(flow);

    if (m)
        *m = message;
}

static void send_to(struct flow *flow, const struct comm *comm, int peer, uint64_t bytes)
{
    flow->sent += bytes;
    add_message(flow, (struct exact_message){.peer = comm_world_rank(comm, peer), .count = 1, .bytes = bytes});
}

static int others(const struct comm *comm)
{
    return comm->inter ? comm->peers : comm->peers - 1;
}

static bool is_other(const struct comm *comm, int peer)
{
    return comm->inter || peer != comm->rank;
}

/* To all peers from `first` on but this process itself. */
static void send_to_all(struct flow *flow, struct comm *comm, int first, uint64_t bytes)
{
    uint32_t group = first ? comm_above(comm) : comm->group;
    int receivers = first ? comm->peers - first : others(comm);

    if (receivers > 1 && group) {
        flow->sent += bytes * (uint64_t)receivers;
        add_message(flow, (struct exact_message){.group = group, .count = 1, .bytes = bytes});
        return;
    }
    for (int i = first; i < comm->peers; i++)
        if (is_other(comm, i))
            send_to(flow, comm, i, bytes);
}

/* The part of this process in a collective with a root. */
enum part { PART_NONE, PART_ROOT, PART_OTHER };

static enum part part_of(const struct call *c, const struct comm *comm, int root)
{
    if (comm->inter)
        return root == c->mpi->abi->root ? PART_ROOT : root == c->mpi->abi->proc_null ? PART_NONE : PART_OTHER;
    return root == comm->rank ? PART_ROOT : PART_OTHER;
}

/* Of no elements the type is not asked: it may be none (MPI_DATATYPE_NULL), which is an error to ask for. */
static uint64_t bytes_of(const struct call *c, int count, int type)
{
    int64_t elements = call_count(c, count);

    return elements ? (uint64_t)(elements * call_type_size(c, type)) : 0;
}

static uint64_t bytes_at(const struct call *c, int counts, int type, int at)
{
    int64_t elements = call_count_at(c, counts, at);

    return elements ? (uint64_t)(elements * call_type_size(c, type)) : 0;
}

/* Likewise, where each has a type of its own. */
static uint64_t bytes_each(const struct call *c, int counts, int types, int at)
{
    int64_t elements = call_count_at(c, counts, at);

    return elements ? (uint64_t)(elements * call_type_size_at(c, types, at)) : 0;
}

/* One root sends to each what its arguments say, and receives nothing; the others receive what theirs say. */
static void from_root(struct flow *flow, const struct call *c, struct comm *comm, int root, int sent, int received)
{
    enum part part = part_of(c, comm, root);

    if (part == PART_ROOT)
        send_to_all(flow, comm, 0, bytes_of(c, sent, sent + 1));
    else if (part == PART_OTHER)
        flow->received += bytes_of(c, received, received + 1);
}

static void add_scatterv(struct flow *flow, const struct call *c, struct comm *comm)
{
    enum part part = part_of(c, comm, call_int(c, 7));

    for (int i = 0; i < comm->peers && part == PART_ROOT; i++)
        if (is_other(comm, i))
            send_to(flow, comm, i, bytes_at(c, 1, 3, i));
    if (part == PART_OTHER)
        flow->received += bytes_of(c, 5, 6);
}

/* Adds a reduction: the root receives `bytes` from each other rank; all have the same number. */
static void add_reduce(struct flow *flow, const struct call *c, struct comm *comm)
{
    int root = call_int(c, 5);
    enum part part = part_of(c, comm, root);
    uint64_t bytes = part == PART_NONE ? 0 : bytes_of(c, 2, 3);

    if (part == PART_ROOT)
        flow->received += bytes * (uint64_t)others(comm);
    else if (part == PART_OTHER)
        send_to(flow, comm, root, bytes);
}

static void add_gather(struct flow *flow, const struct call *c, struct comm *comm)
{
    bool is_v = c->wrapper->shape == GATHERV;
    int root = call_int(c, is_v ? 7 : 6);
    enum part part = part_of(c, comm, root);

    if (part == PART_OTHER)
        send_to(flow, comm, root, bytes_of(c, 1, 2));
    else if (part == PART_ROOT && !is_v)
        flow->received += bytes_of(c, 4, 5) * (uint64_t)others(comm);
    for (int i = 0; i < comm->peers && part == PART_ROOT && is_v; i++)
        if (is_other(comm, i))
            flow->received += bytes_at(c, 4, 6, i);
}

static void add_allgather(struct flow *flow, const struct call *c, struct comm *comm)
{
    bool is_v = c->wrapper->shape == ALLGATHERV, in_place = call_is_in_place(c, 0);
    int type = is_v ? 6 : 5;
    uint64_t mine;

    if (!in_place)
        mine = bytes_of(c, 1, 2);
    else
        mine = is_v ? bytes_at(c, 4, type, comm->rank) : bytes_of(c, 4, type);
    send_to_all(flow, comm, 0, mine);
    if (!is_v)
        flow->received += bytes_of(c, 4, type) * (uint64_t)others(comm);
    for (int i = 0; i < comm->peers && is_v; i++)
        if (is_other(comm, i))
            flow->received += bytes_at(c, 4, type, i);
}

static void add_alltoall(struct flow *flow, const struct call *c, struct comm *comm)
{
    bool in_place = call_is_in_place(c, 0);

    send_to_all(flow, comm, 0, in_place ? bytes_of(c, 4, 5) : bytes_of(c, 1, 2));
    flow->received += bytes_of(c, 4, 5) * (uint64_t)others(comm);
}

static void add_alltoallvw(struct flow *flow, const struct call *c, struct comm *comm)
{
    bool in_place = call_is_in_place(c, 0), is_w = c->wrapper->shape == ALLTOALLW;
    int counts = in_place ? 5 : 1, types = in_place ? 7 : 3;

    for (int i = 0; i < comm->peers; i++) {
        if (!is_other(comm, i))
            continue;
        send_to(flow, comm, i, is_w ? bytes_each(c, counts, types, i) : bytes_at(c, counts, types, i));
        flow->received += is_w ? bytes_each(c, 5, 7, i) : bytes_at(c, 5, 7, i);
    }
}

static void add_allreduce(struct flow *flow, const struct call *c, struct comm *comm)
{
    uint64_t bytes = bytes_of(c, 2, 3);

    send_to_all(flow, comm, 0, bytes);
    flow->received += bytes * (uint64_t)others(comm);
}

static void add_reduce_scatter_block(struct flow *flow, const struct call *c, struct comm *comm)
{
    if (comm->inter) /* the blocks are of the own group then, and what the other one gets is not told here */
        return;
    add_allreduce(flow, c, comm);
}

static void add_reduce_scatter(struct flow *flow, const struct call *c, struct comm *comm)
{
    if (comm->inter)
        return;
    for (int i = 0; i < comm->peers; i++)
        if (is_other(comm, i))
            send_to(flow, comm, i, bytes_at(c, 2, 3, i));
    flow->received += bytes_at(c, 2, 3, comm->rank) * (uint64_t)others(comm);
}

static void add_scan(struct flow *flow, const struct call *c, struct comm *comm)
{
    uint64_t bytes = bytes_of(c, 2, 3);

    if (comm->rank + 1 < comm->peers)
        send_to_all(flow, comm, comm->rank + 1, bytes);
    flow->received += bytes * (uint64_t)comm->rank;
}

static void add_neighbours(struct flow *flow, const struct call *c, struct comm *comm)
{
    enum shape shape = (enum shape)c->wrapper->shape;
    const struct neighbours *n = neighbours_of(c->mpi, comm);
    bool many_out = shape == NEIGHBOR_ALLTOALLV || shape == NEIGHBOR_ALLTOALLW, is_w = shape == NEIGHBOR_ALLTOALLW;
    int counts = many_out ? 5 : 4, types = many_out ? 7 : shape == NEIGHBOR_ALLGATHERV ? 6 : 5;

    for (int i = 0; n && i < n->to_count; i++)
        if (n->to[i] != c->mpi->abi->proc_null && n->to[i] != comm->rank)
            send_to(flow, comm, n->to[i],
                    is_w       ? bytes_each(c, 1, 3, i)
                    : many_out ? bytes_at(c, 1, 3, i)
                               : bytes_of(c, 1, 2));
    for (int i = 0; n && i < n->from_count; i++)
        if (n->from[i] != c->mpi->abi->proc_null && n->from[i] != comm->rank)
            flow->received += is_w                    ? bytes_each(c, counts, types, i)
                              : shape == NEIGHBOR_ALL ? bytes_of(c, counts, types)
                                                      : bytes_at(c, counts, types, i);
}

static void add_send(struct flow *flow, const struct call *c, int count, int type, int to, struct comm *comm)
{
    int peer = call_int(c, to);

    if (peer != c->mpi->abi->proc_null)
        send_to(flow, comm, peer, bytes_of(c, count, type));
}

/* Of as many elements in each of so many partitions. */
static void add_partitioned(struct flow *flow, const struct call *c, struct comm *comm)
{
    int peer = call_int(c, 4);
    int64_t elements = call_int(c, 1) * call_wide(c, 2);

    if (peer != c->mpi->abi->proc_null)
        send_to(flow, comm, peer, elements ? (uint64_t)(elements * call_type_size(c, 3)) : 0);
}

static int comm_argument(enum shape shape)
{
    switch (shape) {
    case BCAST: return 4;
    case GATHER:
    case SCATTER:
    case ALLGATHERV:
    case NEIGHBOR_ALLGATHERV:
    case SENDRECV_REPLACE:
    case ISENDRECV_REPLACE: return 7;
    case GATHERV:
    case SCATTERV:
    case ALLTOALLV:
    case ALLTOALLW:
    case NEIGHBOR_ALLTOALLV:
    case NEIGHBOR_ALLTOALLW: return 8;
    case SENDRECV:
    case ISENDRECV: return 10;
    case ALLGATHER:
    case ALLTOALL:
    case NEIGHBOR_ALL:
    case PSEND_INIT:
    case REDUCE: return 6;
    default: return 5;
    }
}

static void add_collective(struct flow *flow, const struct call *c, struct comm *comm)
{
    switch ((enum shape)c->wrapper->shape) {
    case BCAST: return from_root(flow, c, comm, call_int(c, 3), 1, 1);
    case GATHER:
    case GATHERV: return add_gather(flow, c, comm);
    case SCATTER: return from_root(flow, c, comm, call_int(c, 6), 1, 4);
    case SCATTERV: return add_scatterv(flow, c, comm);
    case ALLGATHER:
    case ALLGATHERV: return add_allgather(flow, c, comm);
    case ALLTOALL: return add_alltoall(flow, c, comm);
    case ALLTOALLV:
    case ALLTOALLW: return add_alltoallvw(flow, c, comm);
    case REDUCE: return add_reduce(flow, c, comm);
    case ALLREDUCE: return add_allreduce(flow, c, comm);
    case REDUCE_SCATTER: return add_reduce_scatter(flow, c, comm);
    case REDUCE_SCATTER_BLOCK: return add_reduce_scatter_block(flow, c, comm);
    case SCAN:
    case EXSCAN: return add_scan(flow, c, comm);
    case NEIGHBOR_ALL:
    case NEIGHBOR_ALLGATHERV:
    case NEIGHBOR_ALLTOALLV:
    case NEIGHBOR_ALLTOALLW: return add_neighbours(flow, c, comm);
    default: return;
    }
}

void flow_add(struct flow *flow, const struct call *c)
{
    enum shape shape = (enum shape)c->wrapper->shape;
    struct comm *comm = comm_find(c->mpi, call_comm(c, comm_argument(shape)));

    if (!comm)
        return;
    if (shape == PSEND_INIT)
        add_partitioned(flow, c, comm);
    else if (shape < BCAST)
        add_send(flow, c, 1, 2, 3, comm);
    else
        add_collective(flow, c, comm);
}

void flow_add_flow(struct flow *flow, const struct flow *other)
{
    flow->sent += other->sent;
    flow->received += other->received;
    for (size_t i = 0; i < other->count; i++)
        add_message(flow, other->messages[i]);
}

void flow_add_received(struct flow *flow, const struct comm *comm, int source, uint64_t bytes)
{
    flow->received += bytes;
    if (comm)
        add_message(flow, (struct exact_message){
                              .peer = comm_world_rank(comm, source), .received = 1, .received_bytes = bytes});
}

struct flow *flow_keep(const struct flow *flow)
{
    struct flow *kept = flow->count || flow->received ? raw_memory(sizeof *kept + flow->count * sizeof *flow->messages)
                                                      : NULL;

    if (!kept)
        return NULL;
    *kept = *flow;
    kept->messages = (struct exact_message *)(kept + 1);
    kept->room = 0;
    if (flow->count)
        memcpy(kept->messages, flow->messages, flow->count * sizeof *flow->messages);
    return kept;
}
