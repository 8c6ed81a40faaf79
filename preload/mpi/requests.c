/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/mpi/requests.h"

#include "preload/lock.h"

enum { FIRST = 256 };

/* Open addressing with backward-shift deletion. */
static struct request *requests;
static size_t mask;
static _Atomic size_t used;
static _Atomic unsigned lock;

static size_t home(uintptr_t handle)
{
    return (handle * 0x9e3779b97f4a7c15u >> 20) & mask;
}

static struct request *find(uintptr_t handle)
{
    size_t at = home(handle);

    while (requests[at].handle && requests[at].handle != handle)
        at = (at + 1) & mask;
    return &requests[at];
}

static bool has_room(void)
{
    struct request *before = requests, *memory;
    size_t slots = before ? mask + 1 : 0, larger = slots ? slots * 2 : FIRST;

    if (slots && used < slots / 4 * 3)
        return true;
    memory = raw_memory(larger * sizeof *memory);
    if (!memory)
        return false;
    requests = memory;
    mask = larger - 1;
    for (size_t i = 0; i < slots; i++)
        if (before[i].handle)
            *find(before[i].handle) = before[i];
    if (before)
        raw_munmap(before, slots * sizeof *before);
    return true;
}

/* Frees all that a request has. */
static void let_go(const struct request *request)
{
    struct flow *flow = request->flow;

    if (flow)
        raw_munmap(flow, sizeof *flow + flow->count * sizeof *flow->messages);
    comm_release(request->comm);
}

void request_add(const struct request *request)
{
    struct request *slot;

    lock_take(&lock);
    if (has_room()) {
        slot = find(request->handle);
        if (slot->handle)
            let_go(slot);
        else
            used++;
        *slot = *request;
    } else {
        let_go(request);
    }
    lock_release(&lock);
}

/* Closes the gap: entries that were pushed past it move back. */
static void take_out(struct request *slot)
{
    size_t gap = (size_t)(slot - requests);

    for (size_t at = (gap + 1) & mask; requests[at].handle; at = (at + 1) & mask)
        if (((at - home(requests[at].handle)) & mask) >= ((at - gap) & mask)) {
            requests[gap] = requests[at];
            gap = at;
        }
    requests[gap].handle = 0;
    used--;
}

/* With the lock; NULL if it is not there. */
static struct request *look_up(uintptr_t handle)
{
    struct request *slot = requests ? find(handle) : NULL;

    return slot && slot->handle ? slot : NULL;
}

const struct flow *request_start(uintptr_t handle)
{
    const struct flow *flow = NULL;
    struct request *slot;

    lock_take(&lock);
    slot = look_up(handle);
    if (slot && slot->persistent) {
        slot->started = true;
        flow = slot->flow;
    }
    lock_release(&lock);
    return flow;
}

bool request_take(uintptr_t handle, struct request *request)
{
    struct request *slot;
    bool is_there;

    lock_take(&lock);
    slot = look_up(handle);
    is_there = slot && (!slot->persistent || slot->started);
    if (is_there) {
        *request = *slot;
        if (slot->persistent)
            slot->started = false;
        else
            take_out(slot);
    }
    lock_release(&lock);
    return is_there;
}

void request_give_back(const struct request *request)
{
    if (request->persistent)
        request_start(request->handle);
    else
        request_add(request);
}

void request_finish(const struct request *request)
{
    if (!request->persistent)
        let_go(request);
}

void request_forget(uintptr_t handle)
{
    struct request *slot;

    lock_take(&lock);
    slot = look_up(handle);
    if (slot) {
        let_go(slot);
        take_out(slot);
    }
    lock_release(&lock);
}

bool requests_none(void)
{
    return !used;
}
