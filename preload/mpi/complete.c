/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/mpi/complete.h"

#include "preload/mpi/flow.h"
#include "preload/raw.h"
#include "preload/sources/exact.h"

#include <string.h>

/* Where the arguments of a shape stand, -1: it has none. */
struct places {
    int requests, status, flag, index; /* index: of the one that is complete, or how many of them */
    bool many;
};

static struct places places_of(enum shape shape)
{
    switch (shape) {
    case RECV: return (struct places){-1, 6, -1, -1, false};
    case SENDRECV: return (struct places){-1, 11, -1, -1, false};
    case SENDRECV_REPLACE: return (struct places){-1, 8, -1, -1, false};
    case MRECV: return (struct places){-1, 4, -1, -1, false};
    case WAIT: return (struct places){0, 1, -1, -1, false};
    case TEST: return (struct places){0, 2, 1, -1, false};
    case WAITALL: return (struct places){1, 2, -1, -1, true};
    case TESTALL: return (struct places){1, 3, 2, -1, true};
    case WAITANY: return (struct places){1, 3, -1, 2, false};
    case TESTANY: return (struct places){1, 4, 3, 2, false};
    case WAITSOME: return (struct places){1, 4, -1, 2, true};
    default: return (struct places){-1, -1, -1, -1, false};
    }
}

static bool is_ignored(const struct call *c, const struct places *p)
{
    void *status = call_pointer(c, p->status);

    if (call_is_fortran(c))
        return mpi_is_fortran_ignore(c->mpi, status);
    return (intptr_t)status == (p->many ? c->mpi->abi->statuses_ignore : c->mpi->abi->status_ignore);
}

/* Our statuses in place of none. */
static void lend(struct completion *x, struct call *c, const struct places *p)
{
    x->statuses = call_pointer(c, p->status);
    if (!is_ignored(c, p))
        return;
    x->statuses = x->memory ? x->memory + (size_t)x->requests * sizeof *x->taken : x->own_statuses;
    c->word[p->status] = (uintptr_t)x->statuses;
}

static bool take_requests(struct completion *x, const struct call *c, const struct places *p)
{
    bool any = false;

    x->requests = p->requests ? call_int(c, 0) : 1;
    if (requests_none() || x->requests <= 0)
        return false;
    x->taken = x->own_taken;
    if (x->requests > COMPLETE_ROOM) {
        x->memory_bytes = (size_t)x->requests * (sizeof *x->taken + (size_t)c->mpi->abi->status_bytes);
        x->memory = raw_memory(x->memory_bytes);
        x->taken = (struct request *)x->memory;
    }
    for (int i = 0; i < x->requests && x->taken; i++)
        if (!request_take(call_request(c, p->requests, i), &x->taken[i]))
            x->taken[i].handle = 0;
        else
            any |= x->taken[i].receives;
    return any;
}

void complete_before(struct completion *x, struct call *c)
{
    struct places p = places_of((enum shape)c->wrapper->shape);
    struct request message;

    x->requests = 0;
    x->taken = NULL;
    x->message = NULL;
    x->status = p.status;
    x->statuses = x->memory = NULL;
    if (p.status < 0)
        return;
    if (c->wrapper->shape == MRECV && request_take(call_message(c, 3), &message))
        x->message = message.comm;
    if (p.requests < 0 || take_requests(x, c, &p))
        lend(x, c, &p);
}

static void add_status(const struct call *c, const char *status, const struct comm *comm, struct flow *flow)
{
    const struct abi *abi = c->mpi->abi;
    int32_t source, cancelled;
    uint64_t bytes;

    memcpy(&source, status + abi->status_source, sizeof source);
    memcpy(&cancelled, status + abi->status_cancelled, sizeof cancelled);
    memcpy(&bytes, status + abi->status_count, sizeof bytes);
    if (abi->count_shift)
        bytes = (bytes & UINT32_MAX) | bytes >> 33 << 32;
    if (source != abi->proc_null && !(cancelled & 1))
        flow_add_received(flow, comm, source, bytes);
}

static int error_class(const struct call *c, int error)
{
    int which = error;

    return error && c->mpi->error_class(error, &which) ? error : which;
}

/* One of the requests is complete, unless its own error says that it is not. */
static void finish(struct completion *x, const struct call *c, int at, const char *status, struct flow *flow)
{
    int32_t error = 0;

    if (at < 0 || at >= x->requests || !x->taken[at].handle)
        return;
    if (x->in_status && status)
        memcpy(&error, status + c->mpi->abi->status_error, sizeof error);
    if (error_class(c, error) == c->mpi->abi->pending)
        return;
    if (x->taken[at].receives && status && !error)
        add_status(c, status, x->taken[at].comm, flow);
    request_finish(&x->taken[at]);
    x->taken[at].handle = 0;
}

static const char *status_at(const struct completion *x, const struct call *c, int at)
{
    return x->statuses ? x->statuses + (size_t)at * (size_t)c->mpi->abi->status_bytes : NULL;
}

static int fill_nothing(void *state, void *status)
{
    (void)state;
    (void)status;
    return 0;
}

static int free_nothing(void *state)
{
    (void)state;
    return 0;
}

static int cancel_nothing(void *state, int completed)
{
    (void)state;
    (void)completed;
    return 0;
}

/* The index that the call's function has for the first of its requests: tried with one that is complete from the
 * start. */
static int try_first_index(const struct call *c)
{
    typedef uintptr_t function(const void *, const void *, const void *, const void *, const void *, const void *);
    function *real = (function *)c->real;
    int (*start)(__typeof__(&fill_nothing), __typeof__(&free_nothing), __typeof__(&cancel_nothing), void *,
                 uint32_t *) = hq_exact_symbol(c->real, "PMPI_Grequest_start");
    int (*complete)(uint32_t) = hq_exact_symbol(c->real, "PMPI_Grequest_complete");
    int one = 1, index = 1, done = 0, error = 0;
    char status[64] = {0};
    uint32_t request;

    if (!start || !complete || start(fill_nothing, free_nothing, cancel_nothing, NULL, &request) || complete(request))
        return 1;
    switch ((enum shape)c->wrapper->shape) {
    case WAITANY: real(&one, &request, &index, status, &error, NULL); break;
    case TESTANY: real(&one, &request, &index, &done, status, &error); break;
    default: real(&one, &request, &done, &index, status, &error); break;
    }
    return index == 0 ? 0 : 1;
}

/* Fortran counts from 1, but in Fortran 2008 MPICH up to 4.0 hands out the indices of C. */
static int first_index(const struct call *c)
{
    static _Atomic int known[SHAPES]; /* more by one; 0: not tried */
    int first;

    if (c->wrapper->language != LANGUAGE_F08 || !c->mpi->abi->fortran_is_c)
        return call_is_fortran(c);
    first = known[c->wrapper->shape] - 1;
    if (first < 0) {
        first = try_first_index(c);
        known[c->wrapper->shape] = first + 1;
    }
    return first;
}

static void finish_some(struct completion *x, const struct call *c, const struct places *p, struct flow *flow)
{
    int base = first_index(c);

    if (p->many) {
        int done = *(const int *)call_pointer(c, p->index);
        const int *indices = call_pointer(c, 3);

        for (int i = 0; i < done; i++)
            finish(x, c, indices[i] - base, status_at(x, c, i), flow);
    } else {
        finish(x, c, *(const int *)call_pointer(c, p->index) - base, x->statuses, flow);
    }
}

static void finish_requests(struct completion *x, const struct call *c, const struct places *p, struct flow *flow)
{
    if (p->flag >= 0 && !*(const int *)call_pointer(c, p->flag))
        return;
    if (p->index >= 0)
        return finish_some(x, c, p, flow);
    for (int i = 0; i < x->requests; i++)
        finish(x, c, i, status_at(x, c, i), flow);
}

/* Of a call that failed: is the request complete all the same? The program has no handle of it any more, or one that
 * can be started again. */
static bool is_over(const struct completion *x, const struct call *c, const struct places *p, int at)
{
    if (!x->taken[at].persistent)
        return call_request(c, p->requests, at) != x->taken[at].handle;
    if (p->index < 0)
        return !p->many;
    return !p->many && *(const int *)call_pointer(c, p->index) - first_index(c) == at;
}

static const struct comm *comm_of(const struct completion *x, const struct call *c)
{
    switch ((enum shape)c->wrapper->shape) {
    case RECV: return comm_find(c->mpi, call_comm(c, 5));
    case SENDRECV: return comm_find(c->mpi, call_comm(c, 10));
    case SENDRECV_REPLACE: return comm_find(c->mpi, call_comm(c, 7));
    default: return x->message;
    }
}

void complete_after(struct completion *x, const struct call *c, int error, struct flow *flow)
{
    struct places p = places_of((enum shape)c->wrapper->shape);

    if (x->status >= 0 && p.requests < 0 && !error && x->statuses)
        add_status(c, x->statuses, comm_of(x, c), flow);
    comm_release(x->message);
    if (!x->taken)
        return;
    x->in_status = p.many && error_class(c, error) == c->mpi->abi->in_status;
    if (!error || x->in_status)
        finish_requests(x, c, &p, flow);
    for (int i = 0; i < x->requests; i++)
        if (x->taken[i].handle && error && is_over(x, c, &p, i))
            request_finish(&x->taken[i]);
        else if (x->taken[i].handle)
            request_give_back(&x->taken[i]);
    if (x->memory)
        raw_munmap(x->memory, x->memory_bytes);
}
