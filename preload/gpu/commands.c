/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands from being enqueued to their end. The driver tells of that by a callback, on a thread of its own choice, in
 * which the event that it is called with tells its times. Where the program wants no event there is one of ours, which
 * is released then; of the program's events no reference is kept. Drivers of OpenCL 1.0 have no callbacks: there the
 * program's later calls find what has ended, by a reference to its event that the program does not see.
 */
#include "preload/exact/exact.h"
#include "preload/gpu/flights.h"
#include "preload/gpu/programs.h"
#include "preload/gpu/queues.h"
#include "preload/sources/device.h"

#include <string.h>

const struct command_row command_rows[FUNCTIONS] = {
#define COMMAND(name, words, event, shown, kind, amount, where, image, blocking) \
    [CL_##name] = {#name, shown, words, event, HQM_COMMAND_##kind, amount, where, image, blocking},
#include "preload/gpu/calls.def"
};

static _Atomic uint32_t numbers __attribute__((aligned(64)));

/* ---- What a command is ---- */

/* Notes the events that a command has to wait for: of commands only those that have not ended yet matter. */
static void note_waits(struct hqm_command *record, uint32_t count, const uintptr_t *events)
{
    uint32_t known = 0, type, number;
    int32_t status;

    for (uint32_t i = 0; events && i < count; i++) {
        bool user = false;

        number = flight_number(events[i], &user);
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

/* Drivers without a clock tell constants (rusticl of Mesa 22: 0 and 1): no command ends within the first microsecond of
 * its device's clock. */
enum { FIRST_END_NS = 1000 };

static void end(struct flight *f, bool timed)
{
    uint64_t *times = &f->record.queued_ns;

    for (unsigned i = 0; timed && i < 4; i++)
        timed = CL(clGetEventProfilingInfo, f->event, CL_PROFILING_QUEUED + i, sizeof *times, (uintptr_t)&times[i],
                   0) == CL_SUCCESS;
    if (!timed || f->record.end_ns < FIRST_END_NS) {
        memset(times, 0, 4 * sizeof *times);
        f->record.flags |= HQM_COMMAND_UNTIMED;
    }
    f->record.seen_ns = now();
    hq_device_ended(&f->call, &f->record);
}

static void completed(uintptr_t event, int32_t status, void *data)
{
    struct flight *f = data;
    bool ours = f->ours, watched = f->watched;

    if (!ours)
        flight_unlink(f);
    if (status < 0 && !f->failed)
        hq_device_failed(&f->call);
    else if (status >= 0)
        end(f, true);
    flight_give_back(f);
    if (ours || watched)
        CL(clReleaseEvent, event);
}

/* Some drivers do not call back for what has failed because something failed that it waited for. The program has the
 * event in its hands, so it is there. */
static void look_for_failure(uintptr_t event)
{
    struct device_call call;
    bool user = false;
    int32_t status;

    if (flight_number(event, &user) && !user &&
        cl_get(CL_clGetEventInfo, event, CL_EVENT_STATUS, &status, sizeof status) && status < 0 &&
        flight_fail(event, &call))
        hq_device_failed(&call);
}

/* ---- Where nobody calls back ---- */

static void watch(struct flight *f, uintptr_t event)
{
    if (!f->ours)
        CL(clRetainEvent, event);
    f->watched = true;
    flight_watch(f);
}

void commands_look(bool all)
{
    enum { FEW = 16 }; /* in one call of many */
    uint32_t looks = flights_watched();
    struct flight *f;
    int32_t status;

    for (looks = all || looks < FEW ? looks : FEW; looks && (f = flight_watched()); looks--)
        if (cl_get(CL_clGetEventInfo, f->event, CL_EVENT_STATUS, &status, sizeof status) && status <= 0)
            completed(f->event, status, f);
        else
            flight_watch(f);
}

/* The program does not see the reference by which its event is watched. */
static uintptr_t event_info(uintptr_t *words, void *below)
{
    uintptr_t result = cl_invoke(below, words, 5);

    if ((uint32_t)words[1] == CL_EVENT_REFERENCES && (int)result == CL_SUCCESS && words[3] &&
        flight_is_watched(words[0]))
        --*(uint32_t *)words[3];
    return result;
}

static void under_way(struct flight *f, uintptr_t event, bool ours, bool calls_back)
{
    enum { COMPLETE = 0 };

    hq_device_begun(&f->call);
    f->event = event;
    f->ours = ours;
    if (event) {
        if (!ours) /* nobody else can name it */
            flight_link(f);
        if (!calls_back || CL(clSetEventCallback, event, COMPLETE, (uintptr_t)completed, (uintptr_t)f) != CL_SUCCESS)
            watch(f, event);
        return;
    }
    /* Nobody will tell of its end (functions without an event). */
    end(f, false);
    flight_give_back(f);
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
        f = flight_take();
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
        flight_give_back(f);
    else
        under_way(f, row->event == NONE ? 0 : *(uintptr_t *)words[row->event], ours, !q.silent);
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
    struct flight *f = event ? flight_take() : NULL;

    if (!f)
        return event;
    f->event = event;
    f->user = true;
    f->record.number = atomic_fetch_add(&numbers, 1) + 1;
    flight_link(f);
    return event;
}

/* Sets a user event. Commands that wait for it may begin before the call returns, so its time is taken before. */
static uintptr_t set_user_event(uintptr_t *words, void *below)
{
    struct flight *found = flight_take_user(words[0]);
    uint64_t start = now();

    if (found) {
        hq_device_host(found->record.number, start, start);
        flight_give_back(found);
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
    case CL_clGetEventInfo: return event_info(words, below);
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
