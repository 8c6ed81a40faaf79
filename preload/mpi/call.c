/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/mpi/call.h"

#include "preload/arch/arch.h"
#include "preload/exact/exact.h"
#include "preload/mpi/complete.h"
#include "preload/mpi/flow.h"

#include <string.h>

enum {
    MPI_FAILED = 1
}; /* what a call returns that no library has: a weak reference to it was not NULL because of us */

enum { UNDER_WAY = 8 }; /* calls within callbacks of the program's: as deep as anybody would nest them, twice */

/* The calls under way, outermost first: each but the first was made by a function of the program that the one before it
 * called back (of an attribute, an error handler, a request of the program's own). One whose frame lies inside of what
 * calls now was left by a jump. */
struct under_way {
    uintptr_t frame;
    const void *real;
    uint64_t inside_ns; /* of calls that were made in callbacks: they have their time themselves */
    bool called_back;
    struct exact_visit visit;
};
static __thread struct under_way under_way[UNDER_WAY];
static __thread int depth;
static __thread struct flow scratch; /* empty while MPI runs */

/* ---- Arguments ---- */

int64_t call_count(const struct call *c, int i)
{
    return c->wrapper->language == LANGUAGE_WIDE ? (int64_t)c->word[i] : call_int(c, i);
}

int64_t call_wide(const struct call *c, int i)
{
    return call_is_fortran(c) ? *(const int64_t *)c->word[i] : (int64_t)c->word[i];
}

int64_t call_count_at(const struct call *c, int i, int at)
{
    return c->wrapper->language == LANGUAGE_WIDE ? ((const int64_t *)c->word[i])[at] : ((const int *)c->word[i])[at];
}

static uintptr_t from_fortran(uintptr_t (*convert)(int), int number)
{
    return convert ? convert(number) : (uintptr_t)(uint32_t)number;
}

/* The handle at place `at` of an array. */
static uintptr_t handle_at(const struct call *c, const void *array, int at, uintptr_t (*convert)(int))
{
    if (call_is_fortran(c))
        return from_fortran(convert, ((const int *)array)[at]);
    return c->mpi->abi->handle_bytes == 4 ? ((const uint32_t *)array)[at] : ((const uintptr_t *)array)[at];
}

static uintptr_t handle(const struct call *c, int i, uintptr_t (*convert)(int))
{
    return call_is_fortran(c) ? from_fortran(convert, call_int(c, i)) : c->word[i];
}

uintptr_t call_comm(const struct call *c, int i)
{
    return handle(c, i, c->mpi->comm_f2c);
}

static int64_t type_size(const struct call *c, uintptr_t type)
{
    long long bytes = 0;

    return c->mpi->type_size(type, &bytes) || bytes < 0 ? 0 : bytes;
}

int64_t call_type_size(const struct call *c, int i)
{
    return type_size(c, handle(c, i, c->mpi->type_f2c));
}

int64_t call_type_size_at(const struct call *c, int i, int at)
{
    return type_size(c, handle_at(c, call_pointer(c, i), at, c->mpi->type_f2c));
}

uintptr_t call_request(const struct call *c, int i, int at)
{
    return handle_at(c, call_pointer(c, i), at, c->mpi->request_f2c);
}

uintptr_t call_message(const struct call *c, int i)
{
    return handle_at(c, call_pointer(c, i), 0, c->mpi->message_f2c);
}

bool call_is_in_place(const struct call *c, int i)
{
    if (call_is_fortran(c))
        return mpi_is_fortran_in_place(c->mpi, call_pointer(c, i));
    return (intptr_t)c->word[i] == c->mpi->abi->in_place;
}

/* ---- The call ---- */

static uintptr_t invoke(const struct call *c)
{
    typedef uintptr_t few(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    typedef uintptr_t many(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                           uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    const uintptr_t *w = c->word;

    if (c->wrapper->words <= 6)
        return ((few *)c->real)(w[0], w[1], w[2], w[3], w[4], w[5]);
    return ((many *)c->real)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13],
                             w[14], w[15]);
}

/* A library that was loaded for one plugin alone is found behind the plugin. */
static void *real_of(struct wrapper *wrapper, const void *caller)
{
    void *address = atomic_load_explicit(&wrapper->real, memory_order_relaxed);

    if (address)
        return address;
    address = real_lookup(&wrapper->real, wrapper->name);
    if (!address) {
        address = hq_exact_behind_call(caller, wrapper->name);
        atomic_store_explicit(&wrapper->real, address, memory_order_relaxed);
    }
    return address;
}

static void leave_to(int deep)
{
    while (depth > deep)
        hq_exact_leave(&under_way[--depth].visit);
}

/* Likewise, and takes the time, of which what calls in callbacks took is theirs. */
static uintptr_t invoke_timed(struct call *c)
{
    int mine = depth;
    struct under_way *u = &under_way[mine - 1];
    uint64_t start = hq_exact_now(), elapsed;
    uintptr_t result = invoke(c);

    elapsed = hq_exact_now() - start;
    leave_to(mine);
    c->time_ns = elapsed > u->inside_ns ? elapsed - u->inside_ns : 0;
    if (mine > 1)
        u[-1].inside_ns += elapsed;
    return result;
}

/* Did the code of MPI, by how the name of its load module begins, or of the tool for MPI's profiling interface that the
 * call under way leads to, make the call that returns here? What these call below it is their own affair. MPI calls its
 * own functions by name, so what it seems to call through a pointer is a callback that ends with the call, by a jump.
 */
static bool is_of_mpi(const void *address)
{
    static const char *const names[] = {"libmpi",  "mca_",     "libmca_",  "ompi_",
                                        "libompi", "libopen-", "libhcoll", "libucc"};
    const char *module = hq_exact_module(address);

    for (size_t i = 0; module && i < sizeof names / sizeof *names; i++)
        if (!strncmp(module, names[i], strlen(names[i])))
            return arch_names_callee((uintptr_t)address);
    return !module || hq_exact_together(address, under_way[depth - 1].real);
}

/* The time of a call belongs to what it sends: in equal parts, to the nanosecond. */
static void share_time(struct flow *flow, uint64_t time_ns)
{
    uint64_t senders = 0, part, rest;

    for (size_t i = 0; i < flow->count; i++)
        senders += flow->messages[i].count != 0;
    if (!senders)
        return;
    part = time_ns / senders;
    rest = time_ns % senders;
    for (size_t i = 0; i < flow->count; i++)
        if (flow->messages[i].count) {
            flow->messages[i].time_ns = part + rest;
            rest = 0;
        }
}

static void tell(const struct call *c, struct flow *flow)
{
    struct exact_amount amounts[] = {
        {.event = EVENT("MPI_TIME"), .amount = c->time_ns, .count = 1},
        {.event = EVENT("MPI_CALLS"), .amount = 1, .count = 1},
        {.event = flow->sent ? EVENT("MPI_SENT") : -1, .amount = flow->sent, .count = 1},
        {.event = flow->received ? EVENT("MPI_RECEIVED") : -1, .amount = flow->received, .count = 1},
    };

    share_time(flow, c->time_ns);
    hq_exact_call(c->real, amounts, 4, flow->messages, (int)flow->count);
    flow->count = 0;
    flow->sent = flow->received = 0;
}

/* Makes a request known: one that receives, or one that moves something at each start. */
static void note_request(const struct call *c, int argument, struct request request)
{
    request.handle = call_request(c, argument, 0);
    request_add(&request);
}

static void note_receive(const struct call *c, int source, int comm, int argument, bool persistent)
{
    if (call_int(c, source) == c->mpi->abi->proc_null)
        return;
    note_request(
        c, argument,
        (struct request){.comm = comm_hold(c->mpi, call_comm(c, comm)), .receives = true, .persistent = persistent});
}

static void note_persistent(const struct call *c, int argument, struct flow *flow)
{
    note_request(c, argument, (struct request){.persistent = true, .flow = flow_keep(flow)});
    flow->count = 0;
    flow->sent = flow->received = 0;
}

static void add_started(const struct call *c, struct flow *flow)
{
    bool all = c->wrapper->shape == STARTALL;
    int count = all ? call_int(c, 0) : 1;

    for (int i = 0; i < count; i++) {
        const struct flow *started = request_start(call_request(c, all, i));

        if (started)
            flow_add_flow(flow, started);
    }
}

/* A message that was probed for: with it its communicator is known when it is received. */
static void note_message(const struct call *c, int argument)
{
    struct request message = {.handle = call_message(c, argument)};

    if (!message.handle)
        return;
    message.comm = comm_hold(c->mpi, call_comm(c, 2));
    request_add(&message);
}

/* Not every launcher tells the ranks in their environment. A process by itself is rank 0 of its own and none of a
 * parallel program. */
static void tell_rank(const struct call *c)
{
    const struct comm *world = comm_find(c->mpi, c->mpi->world);

    if (world && world->peers > 1)
        hq_exact_rank(world->rank);
}

static void after(const struct call *c, struct flow *flow)
{
    switch ((enum shape)c->wrapper->shape) {
    case SEND:
    case SENDRECV:
    case SENDRECV_REPLACE: return flow_add(flow, c);
    case SEND_INIT: flow_add(flow, c); return note_persistent(c, 6, flow);
    case PSEND_INIT: flow_add(flow, c); return note_persistent(c, 8, flow);
    case IRECV: return note_receive(c, 3, 5, 6, false);
    case RECV_INIT: return note_receive(c, 3, 5, 6, true);
    case PRECV_INIT: return note_receive(c, 4, 6, 8, true);
    case ISENDRECV:
    case ISENDRECV_REPLACE: return flow_add(flow, c); /* MPICH 4.0 never writes the status of what it receives */
    case MPROBE: return note_message(c, 3);
    case IMPROBE: return *(const int *)call_pointer(c, 3) ? note_message(c, 4) : (void)0;
    case START:
    case STARTALL: return add_started(c, flow);
    case BEGIN: return tell_rank(c);
    default: break;
    }
    if (c->wrapper->shape < BCAST || c->wrapper->shape > NEIGHBOR_ALLTOALLW)
        return;
    flow_add(flow, c);
    if (c->wrapper->when == INIT)
        note_persistent(c, c->wrapper->arguments - 1, flow);
}

static uintptr_t freed_comm(const struct call *c)
{
    return handle_at(c, call_pointer(c, 0), 0, c->mpi->comm_f2c);
}

/* Forgets the handles that the call takes away. */
static void forget_freed(const struct call *c)
{
    if (c->wrapper->shape == REQUEST_FREE)
        request_forget(call_request(c, 0, 0));
    else if (c->wrapper->shape == COMM_FREE)
        comm_forget(c->mpi, freed_comm(c));
}

/* The argument of Fortran that the error comes back in. */
static uintptr_t *error_argument(const struct call *c)
{
    int at = c->wrapper->shape == BEGIN ? c->wrapper->arguments - 2 : c->wrapper->arguments; /* no argc and argv */

    return &c->word[at];
}

static uintptr_t make(struct call *c)
{
    struct under_way *u = &under_way[depth - 1];
    uintptr_t result, freed = c->wrapper->shape == COMM_FREE ? freed_comm(c) : 0;
    struct completion completion;
    struct request message = {0};
    uintptr_t *argument = call_is_fortran(c) ? error_argument(c) : NULL;
    int error = 0;

    if (argument && !*argument) /* Fortran 2008 may leave it out */
        *argument = (uintptr_t)&error;
    forget_freed(c);
    if (c->wrapper->shape == IMRECV)
        request_take(call_message(c, 3), &message);
    complete_before(&completion, c);
    result = invoke_timed(c);
    if (freed && u->called_back) /* by which it may have been used once more */
        comm_forget(c->mpi, freed);
    error = argument ? *(const int *)*argument : (int)result;
    complete_after(&completion, c, error, &scratch);
    if (!error) {
        after(c, &scratch);
        if (c->wrapper->shape == IMRECV)
            note_request(c, 4, (struct request){.comm = message.comm, .receives = true});
    } else {
        comm_release(message.comm);
    }
    tell(c, &scratch);
    return result;
}

/* Makes a call without a look at its arguments: for an unknown MPI, and where nothing is moved. */
static uintptr_t make_plain(struct call *c)
{
    uintptr_t result = invoke_timed(c);

    tell(c, &scratch);
    return result;
}

static bool is_wanted(void)
{
    return EVENT("MPI_CALLS") >= 0 || EVENT("MPI_TIME") >= 0 || EVENT("MPI_SENT") >= 0 || EVENT("MPI_RECEIVED") >= 0;
}

/* Of a call that MPI makes itself only what it frees counts. */
static uintptr_t make_inside(const struct call *c)
{
    if (c->mpi->abi)
        forget_freed(c);
    return invoke(c);
}

uintptr_t call_made(struct wrapper *wrapper, uintptr_t *words, const void *caller)
{
    struct call c = {.wrapper = wrapper, .word = words, .real = real_of(wrapper, caller)};
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), result;
    int outside;

    if (!c.real)
        return MPI_FAILED;
    if (!is_wanted())
        return invoke(&c);
    c.mpi = mpi_of(c.real);
    if (wrapper->language == LANGUAGE_FORTRAN && c.mpi->abi && c.mpi->abi->fortran_is_c)
        return invoke(&c);
    for (outside = depth; outside && here >= under_way[outside - 1].frame;)
        outside--;
    leave_to(outside);
    if (depth == UNDER_WAY || (depth && is_of_mpi(caller)))
        return make_inside(&c);
    if (wrapper->shape == ABORT)
        tell(&c, &scratch);
    if (depth)
        under_way[depth - 1].called_back = true;
    under_way[depth++] = (struct under_way){.frame = here, .real = c.real};
    hq_exact_enter(c.real, &under_way[depth - 1].visit);
    result = c.mpi->abi && wrapper->shape != COUNTED ? make(&c) : make_plain(&c);
    leave_to(outside);
    return result;
}
