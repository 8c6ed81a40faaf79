/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands from being enqueued to their end. The driver tells of that by a callback, on a thread of its own choice, in
 * which the event that it is called with tells its times. Where the program wants no event there is one of ours, which
 * is released then; of the program's events no reference is kept.
 */
#include "preload/exact/exact.h"
#include "preload/gpu/programs.h"
#include "preload/gpu/queues.h"
#include "preload/lock.h"
#include "preload/raw.h"
#include "preload/sources/device.h"

#include <string.h>

enum { BUCKETS = 8192, POOL = 1 << 16 /* bytes */ };

const struct command_row command_rows[FUNCTIONS] = {
#define COMMAND(name, words, event, shown, kind, amount, where, image, blocking) \
    [CL_##name] = {#name, shown, words, event, HQM_COMMAND_##kind, amount, where, image, blocking},
#include "preload/gpu/calls.def"
};

/* A command that is under way. One thread gives it and another ends it, so it shares no cache line with others. */
struct flight {
    struct flight *next; /* of its bucket, or of the free ones */
    uintptr_t event;
    bool ours;   /* the event */
    bool user;   /* it is no command, but an event that the program sets itself */
    bool failed; /* that was seen before the driver told, if it ever does */
    struct device_call call;
    struct hqm_command record;
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct flight) <= 256, "promised in doc/accelerators.md");

/* Commands that the program has events of are found by these. */
static struct bucket {
    _Atomic unsigned lock;
    struct flight *first;
} buckets[BUCKETS];

/* Those who give commands take free ones, with the lock; those who end them give them back, and wait for nobody. */
static _Atomic unsigned lock;
static struct flight *free_flights;
static _Atomic(struct flight *) given_back __attribute__((aligned(64)));
static _Atomic uint32_t numbers __attribute__((aligned(64)));

/* ---- What is under way ---- */

static struct flight *make_free(void)
{
    struct flight *f = raw_memory(POOL);

    for (size_t i = 0; f && i + 1 < POOL / sizeof *f; i++)
        f[i].next = &f[i + 1];
    return f;
}

static struct flight *take(void)
{
    struct flight *f;

    lock_take(&lock);
    if (!free_flights)
        free_flights = atomic_exchange(&given_back, NULL);
    if (!free_flights)
        free_flights = make_free();
    f = free_flights;
    if (f)
        free_flights = f->next;
    lock_release(&lock);
    if (f)
        *f = (struct flight){0};
    return f;
}

static void give_back(struct flight *f)
{
    f->next = atomic_load_explicit(&given_back, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&given_back, &f->next, f))
        continue;
}

static struct bucket *bucket_of(uintptr_t event)
{
    return &buckets[(uint32_t)((event >> 4) * 0x9e3779b1u) % BUCKETS];
}

static void link_flight(struct flight *f)
{
    struct bucket *bucket = bucket_of(f->event);

    lock_take(&bucket->lock);
    f->next = bucket->first;
    bucket->first = f;
    lock_release(&bucket->lock);
}

static void unlink_flight(struct flight *f)
{
    struct bucket *bucket = bucket_of(f->event);

    lock_take(&bucket->lock);
    for (struct flight **at = &bucket->first; *at; at = &(*at)->next)
        if (*at == f) {
            *at = f->next;
            break;
        }
    lock_release(&bucket->lock);
}

/* The number of what is under way and has this event, 0: nothing. */
static uint32_t number_of(uintptr_t event, bool *user)
{
    struct bucket *bucket = bucket_of(event);
    uint32_t number = 0;

    lock_take(&bucket->lock);
    for (struct flight *f = bucket->first; f && !number; f = f->next)
        if (f->event == event) {
            number = f->record.number;
            *user = f->user;
        }
    lock_release(&bucket->lock);
    return number;
}

void commands_forget(void)
{
    lock_release(&lock);
    free_flights = NULL;
    atomic_store(&given_back, NULL);
    for (uint32_t i = 0; i < BUCKETS; i++) {
        lock_release(&buckets[i].lock);
        buckets[i].first = NULL;
    }
}

/* ---- What a command is ---- */

/* Notes the events that a command has to wait for: of commands only those that have not ended yet matter. */
static void note_waits(struct hqm_command *record, uint32_t count, const uintptr_t *events)
{
    uint32_t known = 0, type, number;
    int32_t status;

    for (uint32_t i = 0; events && i < count; i++) {
        bool user = false;

        number = number_of(events[i], &user);
        record->flags |= user ? HQM_COMMAND_USER : 0;
        if (number && known < HQM_COMMAND_AFTER)
            record->after[known++] = number;
        else if (number)
            record->flags |= HQM_COMMAND_MORE;
        else if (cl_get(CL_clGetEventInfo, events[i], CL_EVENT_COMMAND_TYPE, &type, sizeof type) &&
                 type == CL_COMMAND_USER &&
                 cl_get(CL_clGetEventInfo, events[i], CL_EVENT_STATUS, &status, sizeof status) && status > 0)
            record->flags |= HQM_COMMAND_USER;
    }
}

static uint64_t product(uintptr_t array, uint32_t count)
{
    const size_t *numbers_of = (const size_t *)array;
    uint64_t all = 1;

    for (uint32_t i = 0; array && i < count; i++)
        all *= numbers_of[i];
    return array ? all : 0;
}

static void note_amount(struct hqm_command *record, const struct command_row *row, const uintptr_t *words)
{
    uintptr_t where = words[row->where];
    size_t pixel = 0;

    switch ((enum amount)row->amount) {
    case SIZE: record->bytes = where; break;
    case REGION: record->bytes = product(where, 3); break;
    case PIXELS:
        if (cl_get(CL_clGetImageInfo, words[row->image], CL_IMAGE_ELEMENT_SIZE, &pixel, sizeof pixel))
            record->bytes = product(where, 3) * pixel;
        break;
    case RANGE: record->items = product(where, (uint32_t)words[2] <= 3 ? (uint32_t)words[2] : 0); break;
    case ONE: record->items = 1; break;
    case NOTHING: break;
    }
}

/* Returns the number of what a command does, for hq_device_here: kernels by their own names. */
static uint64_t what_is(enum function function, const uintptr_t *words)
{
    static _Atomic uint64_t known[FUNCTIONS]; /* epoch + 1 << 32 | hq_device_command */
    const struct command_row *row = &command_rows[function];
    uint64_t epoch = (uint64_t)(hq_exact_epoch() + 1) << 32, command;

    if (row->amount == RANGE || row->amount == ONE)
        return kernel_command(words[1]);
    command = atomic_load_explicit(&known[function], memory_order_relaxed);
    if (command >> 32 << 32 == epoch)
        return (uint32_t)command;
    command = hq_device_command(row->shown, 0);
    if (command)
        atomic_store_explicit(&known[function], epoch | command, memory_order_relaxed);
    return command;
}

/* ---- Its end ---- */

static void end(struct flight *f, bool timed)
{
    uint64_t *times = &f->record.queued_ns;

    for (unsigned i = 0; timed && i < 4; i++)
        timed = CL(clGetEventProfilingInfo, f->event, CL_PROFILING_QUEUED + i, sizeof *times, (uintptr_t)&times[i],
                   0) == CL_SUCCESS;
    if (!timed) {
        memset(times, 0, 4 * sizeof *times);
        f->record.flags |= HQM_COMMAND_UNTIMED;
    }
    f->record.seen_ns = now();
    hq_device_ended(&f->call, &f->record);
}

static void completed(uintptr_t event, int32_t status, void *data)
{
    struct flight *f = data;
    bool ours = f->ours;

    if (!ours)
        unlink_flight(f);
    if (status < 0 && !f->failed)
        hq_device_failed(&f->call);
    else if (status >= 0)
        end(f, true);
    give_back(f);
    if (ours)
        CL(clReleaseEvent, event);
}

/* Some drivers do not call back for what has failed because something failed that it waited for. The program has the
 * event in its hands, so it is there. */
static void look_for_failure(uintptr_t event)
{
    struct bucket *bucket = bucket_of(event);
    struct device_call call;
    bool found = false, user = false;
    int32_t status;

    if (!number_of(event, &user) || user ||
        !cl_get(CL_clGetEventInfo, event, CL_EVENT_STATUS, &status, sizeof status) || status >= 0)
        return;
    lock_take(&bucket->lock);
    for (struct flight *f = bucket->first; f && !found; f = f->next)
        if (f->event == event && !f->failed) {
            found = f->failed = true;
            call = f->call;
        }
    lock_release(&bucket->lock);
    if (found)
        hq_device_failed(&call);
}

static void under_way(struct flight *f, uintptr_t event, bool ours)
{
    enum { COMPLETE = 0 };

    hq_device_begun(&f->call);
    f->event = event;
    f->ours = ours;
    if (event) {
        if (!ours) /* nobody else can name it */
            link_flight(f);
        if (CL(clSetEventCallback, event, COMPLETE, (uintptr_t)completed, (uintptr_t)f) == CL_SUCCESS)
            return;
        if (!ours)
            unlink_flight(f);
    }
    /* Nobody will tell of its end (functions without an event; OpenCL 1.0). */
    end(f, false);
    give_back(f);
    if (ours)
        CL(clReleaseEvent, event);
}

/* ---- The call ---- */

static bool succeeded(enum function function, uintptr_t result)
{
    if (function == CL_clEnqueueMapBuffer || function == CL_clEnqueueMapImage)
        return result != 0;
    return (int)result == CL_SUCCESS;
}

/* Where commands of a queue may overtake each other, barriers and markers say which do not. */
static uint16_t order_of(enum function function, const uintptr_t *words)
{
    switch (function) {
    case CL_clEnqueueMarker: return HQM_COMMAND_ALL;
    case CL_clEnqueueBarrier: return HQM_COMMAND_ALL | HQM_COMMAND_FENCE;
    case CL_clEnqueueWaitForEvents: return HQM_COMMAND_FENCE;
    case CL_clEnqueueMarkerWithWaitList: return (uint32_t)words[1] ? 0 : HQM_COMMAND_ALL;
    case CL_clEnqueueBarrierWithWaitList: return HQM_COMMAND_FENCE | ((uint32_t)words[1] ? 0 : HQM_COMMAND_ALL);
    default: return 0;
    }
}

static void fill(struct flight *f, enum function function, const uintptr_t *words, uint32_t queue)
{
    const struct command_row *row = &command_rows[function];
    unsigned list = row->event == NONE ? 2u : row->event - 1u;

    f->record.queue = queue;
    f->record.kind = row->kind;
    f->record.flags = order_of(function, words);
    f->record.number = atomic_fetch_add(&numbers, 1) + 1;
    note_amount(&f->record, row, words);
    if (row->words > list && list > 1)
        note_waits(&f->record, (uint32_t)words[list - 1], (const uintptr_t *)words[list]);
}

static void waited(const struct device_call *call, uint64_t from, uint64_t to)
{
    hq_device_spent(call, EVENT("GPU_WAIT"), to - from);
    hq_device_host(0, from, to);
}

uintptr_t command_enqueued(enum function function, uintptr_t *words, void *below)
{
    const struct command_row *row = &command_rows[function];
    uintptr_t handle = words[0], event = 0, result;
    struct device_call call;
    struct flight *f = NULL;
    struct queue q;
    bool ours;

    if (function == CL_clEnqueueCommandBufferKHR)
        handle = (uint32_t)words[0] && words[1] ? *(const uintptr_t *)words[1] : buffer_queue(words[2]);
    q = queue_of(handle);
    if (q.number && hq_device_here(cl_entry(function), what_is(function, words), &call))
        f = take();
    if (!f)
        return cl_invoke(below, words, row->words);
    f->call = call;
    fill(f, function, words, q.number);
    ours = row->event != NONE && !words[row->event];
    if (ours)
        words[row->event] = (uintptr_t)&event;
    f->record.called_ns = now();
    result = cl_invoke(below, words, row->words);
    f->record.returned_ns = now();
    if (row->blocking != NONE && (uint32_t)words[row->blocking])
        waited(&call, f->record.called_ns, f->record.returned_ns);
    if (!succeeded(function, result))
        give_back(f);
    else
        under_way(f, row->event == NONE ? 0 : *(uintptr_t *)words[row->event], ours);
    return result;
}

uintptr_t host_time(enum function function, uintptr_t *words, void *below, unsigned count, int event)
{
    struct device_call call;
    bool known = hq_device_here(cl_entry(function), 0, &call);
    uint64_t start = now();
    uintptr_t result = cl_invoke(below, words, count);

    if (known)
        hq_device_spent(&call, event, now() - start);
    return result;
}

static uintptr_t wait_in(enum function function, uintptr_t *words, void *below, unsigned count)
{
    struct device_call call;
    bool known = hq_device_here(cl_entry(function), 0, &call);
    uint64_t start = now();
    uintptr_t result = cl_invoke(below, words, count);

    if (known)
        waited(&call, start, now());
    return result;
}

static uintptr_t finish(uintptr_t *words, void *below)
{
    uintptr_t result = wait_in(CL_clFinish, words, below, 1);

    queue_clock(words[0]);
    return result;
}

static uintptr_t wait_for_events(uintptr_t *words, void *below)
{
    uintptr_t result = wait_in(CL_clWaitForEvents, words, below, 2);

    for (uint32_t i = 0; (int)result != CL_SUCCESS && words[1] && i < (uint32_t)words[0]; i++)
        look_for_failure(((const uintptr_t *)words[1])[i]);
    return result;
}

static uintptr_t create_user_event(uintptr_t *words, void *below)
{
    uintptr_t event = cl_invoke(below, words, 2);
    struct flight *f = event ? take() : NULL;

    if (!f)
        return event;
    f->event = event;
    f->user = true;
    f->record.number = atomic_fetch_add(&numbers, 1) + 1;
    link_flight(f);
    return event;
}

/* Sets a user event. Commands that wait for it may begin before the call returns, so its time is taken before. */
static uintptr_t set_user_event(uintptr_t *words, void *below)
{
    struct bucket *bucket = bucket_of(words[0]);
    struct flight *found = NULL;
    uint64_t start = now();

    lock_take(&bucket->lock);
    for (struct flight **at = &bucket->first; *at && !found; at = found ? at : &(*at)->next)
        if ((*at)->event == words[0] && (*at)->user) {
            found = *at;
            *at = found->next;
        }
    lock_release(&bucket->lock);
    if (found) {
        hq_device_host(found->record.number, start, start);
        give_back(found);
    }
    return cl_invoke(below, words, 2);
}

uintptr_t call_watched(enum function function, uintptr_t *words, void *below)
{
    switch (function) {
    case CL_clFinish: return finish(words, below);
    case CL_clCreateUserEvent: return create_user_event(words, below);
    case CL_clSetUserEventStatus: return set_user_event(words, below);
    case CL_clWaitForEvents: return wait_for_events(words, below);
    case CL_clReleaseEvent: look_for_failure(words[0]); return cl_invoke(below, words, 1);
    case CL_clCreateCommandQueue:
    case CL_clCreateCommandQueueWithProperties: return queue_create(function, words, below);
    case CL_clReleaseCommandQueue: return queue_release(words, below);
    case CL_clGetCommandQueueInfo: return queue_info(words, below);
    case CL_clSetCommandQueueProperty: return queue_set_property(words, below);
    case CL_clCreateProgramWithSource:
    case CL_clCreateProgramWithBinary:
    case CL_clCreateProgramWithIL:
    case CL_clCreateProgramWithBuiltInKernels: return program_create(function, words, below);
    case CL_clCreateCommandBufferKHR: return buffer_create(words, below);
    case CL_clBuildProgram:
    case CL_clCompileProgram:
    case CL_clLinkProgram: return program_build(function, words, below);
    case CL_clCreateKernel:
    case CL_clCreateKernelsInProgram:
    case CL_clCloneKernel: return kernel_create(function, words, below);
    default: return queue_event_times(words, below);
    }
}
