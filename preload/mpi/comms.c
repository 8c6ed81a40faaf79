/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/mpi/comms.h"

#include "preload/lock.h"
#include "preload/mpi/neighbours.h"
#include "preload/raw.h"
#include "preload/sources/exact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 512 };

/* All of them, in no order; few are in use at a time. What a thread has found last it finds again without the lock, as
 * long as none was forgotten since. */
static struct comm **comms;
static size_t count, room;
static _Atomic unsigned lock, forgotten;
static __thread struct comm *last; /* may be gone when another thread has forgotten it */
static __thread uintptr_t last_key;
static __thread unsigned last_forgotten;

static size_t bytes_of(int peers)
{
    return sizeof(struct comm) + (size_t)peers * sizeof(int);
}

static uintptr_t key_of(const struct mpi *mpi, uintptr_t handle)
{
    return mpi->abi->handle_bytes == 4 ? (uint32_t)handle : handle;
}

static int compare_ranks(const void *pa, const void *pb)
{
    int a = *(const int *)pa, b = *(const int *)pb;

    return (a > b) - (a < b);
}

/* The text of a set of ranks, which are sorted by this. */
static uint32_t describe(int *ranks, int n)
{
    size_t bytes = (size_t)n * 24 + 1;
    char *text = n ? raw_memory(bytes) : NULL, *to = text;
    uint32_t group = 0;

    if (!text)
        return 0;
    qsort(ranks, (size_t)n, sizeof *ranks, compare_ranks);
    for (int i = 0; i < n; i++) {
        int from = i;

        while (i + 1 < n && ranks[i + 1] == ranks[i] + 1)
            i++;
        to += sprintf(to, from == i ? "%s%d" : "%s%d-%d", from ? "," : "", ranks[from], ranks[i]);
    }
    if (ranks[0] >= 0)
        group = hq_exact_text(text);
    raw_munmap(text, bytes);
    return group;
}

/* Describes the peers from `first` on. */
static uint32_t describe_from(const struct comm *comm, int first)
{
    size_t n = (size_t)(comm->peers - first), bytes = n * sizeof(int) + 1;
    int *ranks = raw_memory(bytes);
    uint32_t group;

    if (!ranks)
        return 0;
    memcpy(ranks, comm->world + first, n * sizeof *ranks);
    group = describe(ranks, (int)n);
    raw_munmap(ranks, bytes);
    return group;
}

uint32_t comm_above(struct comm *comm)
{
    if (!comm->above && comm->group)
        comm->above = describe_from(comm, comm->rank + 1);
    return comm->above;
}

static bool translate(const struct mpi *mpi, uintptr_t group, uintptr_t world, struct comm *comm)
{
    size_t bytes = (size_t)comm->peers * sizeof(int) + 1;
    int *ranks = raw_memory(bytes);
    bool done;

    if (!ranks)
        return false;
    for (int i = 0; i < comm->peers; i++)
        ranks[i] = i;
    done = !mpi->group_translate(group, comm->peers, ranks, world, comm->world);
    for (int i = 0; i < comm->peers && done; i++)
        if (comm->world[i] < 0)
            comm->world[i] = -1; /* MPI_UNDEFINED */
    raw_munmap(ranks, bytes);
    return done;
}

static struct comm *make(const struct mpi *mpi, uintptr_t handle, uintptr_t group, uintptr_t world, int inter)
{
    int peers = 0, rank = 0;
    struct comm *comm;

    if (mpi->group_size(group, &peers) || peers <= 0 || mpi->comm_rank(handle, &rank))
        return NULL;
    comm = raw_memory(bytes_of(peers));
    if (!comm)
        return NULL;
    comm->handle = key_of(mpi, handle);
    comm->holders = 1;
    comm->rank = rank;
    comm->peers = peers;
    comm->inter = inter;
    if (!translate(mpi, group, world, comm)) {
        raw_munmap(comm, bytes_of(peers));
        return NULL;
    }
    comm->group = describe_from(comm, 0);
    return comm;
}

static struct comm *ask(const struct mpi *mpi, uintptr_t handle)
{
    uintptr_t group = 0, world = 0;
    struct comm *comm = NULL;
    int inter = 0;

    if (mpi->comm_test_inter(handle, &inter) || mpi->comm_group(mpi->world, &world))
        return NULL;
    if (!(inter ? mpi->comm_remote_group : mpi->comm_group)(handle, &group)) {
        comm = make(mpi, handle, group, world, inter);
        mpi->group_free(&group);
    }
    mpi->group_free(&world);
    return comm;
}

static bool has_room(void)
{
    size_t larger = room ? room * 2 : FIRST;
    struct comm **memory;

    if (count < room)
        return true;
    memory = raw_memory(larger * sizeof *memory);
    if (!memory)
        return false;
    if (comms) {
        memcpy(memory, comms, room * sizeof *memory);
        raw_munmap(comms, room * sizeof *memory);
    }
    comms = memory;
    room = larger;
    return true;
}

static struct comm *look_up(uintptr_t key)
{
    for (size_t i = 0; i < count; i++)
        if (comms[i]->handle == key)
            return comms[i];
    return NULL;
}

struct comm *comm_find(const struct mpi *mpi, uintptr_t handle)
{
    uintptr_t key = key_of(mpi, handle);
    unsigned now = forgotten;
    struct comm *comm, *other;

    if (last && last_forgotten == now && last_key == key)
        return last;
    lock_take(&lock);
    comm = look_up(key);
    lock_release(&lock);
    if (!comm) {
        comm = ask(mpi, handle);
        if (!comm)
            return NULL;
        lock_take(&lock);
        other = look_up(key);
        if (other || !has_room()) {
            raw_munmap(comm, bytes_of(comm->peers));
            comm = other;
        } else {
            comms[count++] = comm;
        }
        lock_release(&lock);
    }
    last = comm;
    last_key = key;
    last_forgotten = now;
    return comm;
}

struct comm *comm_hold(const struct mpi *mpi, uintptr_t handle)
{
    struct comm *comm = comm_find(mpi, handle);

    if (comm)
        comm->holders++;
    return comm;
}

void comm_release(struct comm *comm)
{
    if (!comm || --comm->holders)
        return;
    neighbours_forget(comm);
    raw_munmap(comm, bytes_of(comm->peers));
}

void comm_forget(const struct mpi *mpi, uintptr_t handle)
{
    uintptr_t key = key_of(mpi, handle);

    lock_take(&lock);
    forgotten++;
    for (size_t i = 0; i < count; i++)
        if (comms[i]->handle == key) {
            comm_release(comms[i]);
            comms[i] = comms[--count];
            break;
        }
    lock_release(&lock);
}
