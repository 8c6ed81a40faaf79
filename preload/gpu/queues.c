/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/gpu/queues.h"

#include "preload/gpu/handles.h"
#include "preload/lock.h"
#include "preload/sources/device.h"
#include "preload/sources/exact.h"

#include <string.h>

enum { QUEUES = 4096, CONTEXTS = 256, PROPERTIES = 64, DEVICES = 64, BUFFERS = 1024 };

/* How a queue came to tell times. */
enum hidden {
    AS_ASKED,   /* the program wanted it so */
    BIT_SET,    /* by a bit more in the properties */
    PAIR_ADDED, /* by properties at the end of the program's list */
    LIST_MADE   /* by a list where the program gave none */
};

static _Atomic unsigned lock;
static struct queue queues[QUEUES]; /* with the lock */
static uintptr_t contexts[CONTEXTS];
static struct buffer {
    uintptr_t handle, queue;
} buffers[BUFFERS]; /* with the lock */

static struct queue *slot_of(uintptr_t handle)
{
    return handle_slot(queues, sizeof *queues, QUEUES, handle);
}

void queues_forget(void)
{
    lock_release(&lock);
}

static uint32_t context_number(uintptr_t context)
{
    uint32_t i = 0;

    lock_take(&lock);
    while (i < CONTEXTS - 1 && contexts[i] && contexts[i] != context)
        i++;
    contexts[i] = context;
    lock_release(&lock);
    return i + 1;
}

static struct queue look_up(uintptr_t handle)
{
    struct queue q = {0}, *found;

    lock_take(&lock);
    found = slot_of(handle);
    if (found && found->handle == handle)
        q = *found;
    lock_release(&lock);
    return q;
}

/* ---- New queues ---- */

/* Returns the place of a handle in a list that a function has filled. */
static uint32_t place_in(const uintptr_t *all, uint32_t count, uintptr_t handle)
{
    for (uint32_t i = 0; i < count && i < DEVICES; i++)
        if (all[i] == handle)
            return i;
    return 0;
}

/* Returns the numbers of a device's platform and of the device among those of its platform; a part of a device has the
 * number of the whole. */
static uint32_t unit_of(uintptr_t device)
{
    uintptr_t all[DEVICES], platforms[DEVICES], platform = 0, parent = device;
    uint32_t count = 0, platform_count = 0;

    while (parent && cl_get(CL_clGetDeviceInfo, device, CL_DEVICE_PARENT, &parent, sizeof parent) && parent)
        device = parent;
    if (!cl_get(CL_clGetDeviceInfo, device, CL_DEVICE_PLATFORM, &platform, sizeof platform) ||
        CL(clGetDeviceIDs, platform, CL_DEVICE_TYPE_ALL, DEVICES, (uintptr_t)all, (uintptr_t)&count))
        return 0;
    if (CL(clGetPlatformIDs, DEVICES, (uintptr_t)platforms, (uintptr_t)&platform_count))
        platform_count = 0;
    return HQM_UNIT(place_in(platforms, platform_count, platform), place_in(all, count, device));
}

/* ---- Clocks of devices ---- */

enum { CLOCK_EVERY_NS = 100000000, CLOCK_LOOKS = 3 };

/* Returns 21 for OpenCL 2.1; 0: it is not told. The tables of earlier drivers end before the functions of later
 * versions. */
static int version_of(enum function f, uintptr_t object, unsigned property)
{
    char text[256] = ""; /* "OpenCL 2.1 what the driver says of itself" */

    if (!cl_get(f, object, property, text, sizeof text - 1) || strncmp(text, "OpenCL ", 7))
        return 0;
    if (text[7] < '1' || text[7] > '9' || text[8] != '.' || text[9] < '0' || text[9] > '9')
        return 0;
    return (text[7] - '0') * 10 + text[9] - '0';
}

static int version_of_platform(uintptr_t device)
{
    uintptr_t platform = 0;

    return cl_get(CL_clGetDeviceInfo, device, CL_DEVICE_PLATFORM, &platform, sizeof platform)
               ? version_of(CL_clGetPlatformInfo, platform, CL_PLATFORM_VERSION)
               : 0;
}

static bool has_clock(uintptr_t device)
{
    return version_of_platform(device) >= 21 && version_of(CL_clGetDeviceInfo, device, CL_DEVICE_VERSION) >= 21;
}

/* Reads the device's clock several times and keeps the reading between the closest instants. False: the driver does not
 * tell. */
static bool read_clock(uint32_t queue, uintptr_t device)
{
    uint64_t best = 0, best_before = 0, best_after = UINT64_MAX;

    for (int i = 0; i < CLOCK_LOOKS; i++) {
        uint64_t of_device = 0, of_host = 0, before = now(), after;

        if (CL(clGetDeviceAndHostTimer, device, (uintptr_t)&of_device, (uintptr_t)&of_host) != CL_SUCCESS)
            return false;
        after = now();
        if (after - before < best_after - best_before) {
            best = of_device;
            best_before = before;
            best_after = after;
        }
    }
    hq_device_clock(queue, best_before, best_after, best);
    return true;
}

static _Atomic bool have_clocks;

void queue_clock(uintptr_t handle)
{
    struct queue q, *to;
    uint64_t at;

    if (!atomic_load_explicit(&have_clocks, memory_order_relaxed))
        return;
    q = look_up(handle);
    at = now();
    if (!q.device || !q.number || q.epoch != hq_exact_epoch() + 1 || at - q.read_ns < CLOCK_EVERY_NS ||
        !read_clock(q.number, q.device))
        return;
    lock_take(&lock);
    to = slot_of(handle);
    if (to && to->handle == handle)
        to->read_ns = at;
    lock_release(&lock);
}

static struct queue describe(uintptr_t handle, enum hidden hidden)
{
    uintptr_t device = 0, context = 0;
    uint64_t properties = 0;
    char name[256] = "unknown device";
    struct queue q = {.handle = handle, .hidden = (uint8_t)hidden, .epoch = hq_exact_epoch() + 1};

    cl_get(CL_clGetCommandQueueInfo, handle, CL_QUEUE_PROPERTIES, &properties, sizeof properties);
    cl_get(CL_clGetCommandQueueInfo, handle, CL_QUEUE_CONTEXT, &context, sizeof context);
    if (cl_get(CL_clGetCommandQueueInfo, handle, CL_QUEUE_DEVICE, &device, sizeof device)) {
        CL(clGetDeviceInfo, device, CL_DEVICE_NAME, sizeof name - 1, (uintptr_t)name, 0);
        name[sizeof name - 1] = 0;
    }
    q.untimed = !(properties & CL_QUEUE_PROFILING);
    q.silent = device && version_of_platform(device) == 10;
    q.number = hq_device_queue(
        name, (struct hqm_queue){.unit = unit_of(device),
                                 .context = context_number(context),
                                 .flags = (q.untimed ? HQM_QUEUE_UNTIMED : 0) |
                                          (properties & CL_QUEUE_OUT_OF_ORDER ? HQM_QUEUE_UNORDERED : 0)});
    if (q.number && device && has_clock(device) && read_clock(q.number, device)) {
        q.device = device;
        q.read_ns = now();
        atomic_store(&have_clocks, true);
    }
    return q;
}

static struct queue make_known(uintptr_t handle, enum hidden hidden)
{
    struct queue q = describe(handle, hidden), *to;

    lock_take(&lock);
    to = slot_of(handle);
    if (to)
        *to = q;
    lock_release(&lock);
    return q;
}

struct queue queue_of(uintptr_t handle)
{
    struct queue q = look_up(handle);

    return q.handle && q.epoch == hq_exact_epoch() + 1 ? q : make_known(handle, q.hidden);
}

/* ---- Making them tell times ---- */

/* The properties that a queue is given in place of the program's. */
static enum hidden add_profiling(const uint64_t *asked, uint64_t list[PROPERTIES])
{
    uint32_t n = 0, at = PROPERTIES;

    for (; asked && asked[n] && n + 4 < PROPERTIES; n += 2) {
        list[n] = asked[n];
        list[n + 1] = asked[n + 1];
        if (asked[n] == CL_QUEUE_PROPERTIES)
            at = n + 1;
    }
    if (asked && asked[n])
        return AS_ASKED; /* longer than any */
    if (at < PROPERTIES && list[at] & (CL_QUEUE_PROFILING | CL_QUEUE_ON_DEVICE))
        return AS_ASKED;
    if (at < PROPERTIES) {
        list[at] |= CL_QUEUE_PROFILING;
    } else {
        list[n++] = CL_QUEUE_PROPERTIES;
        list[n++] = CL_QUEUE_PROFILING;
    }
    list[n] = 0;
    return at < PROPERTIES ? BIT_SET : asked ? PAIR_ADDED : LIST_MADE;
}

uintptr_t queue_create(enum function f, uintptr_t *words, void *below)
{
    uint64_t list[PROPERTIES];
    uintptr_t asked = words[2], made;
    enum hidden hidden = AS_ASKED;

    if (f == CL_clCreateCommandQueue) {
        hidden = asked & CL_QUEUE_PROFILING ? AS_ASKED : BIT_SET;
        words[2] = asked | CL_QUEUE_PROFILING;
    } else {
        hidden = add_profiling((const uint64_t *)asked, list);
        words[2] = hidden == AS_ASKED ? asked : (uintptr_t)list;
    }
    made = cl_invoke(below, words, 4);
    if (!made && hidden != AS_ASKED) {
        words[2] = asked;
        hidden = AS_ASKED;
        made = cl_invoke(below, words, 4);
    }
    if (made)
        make_known(made, hidden);
    return made;
}

uintptr_t queue_release(uintptr_t *words, void *below)
{
    uintptr_t handle = words[0];
    uint32_t references = 0;

    if (cl_get(CL_clGetCommandQueueInfo, handle, CL_QUEUE_REFERENCES, &references, sizeof references) &&
        references == 1) {
        queue_clock(handle);
        lock_take(&lock);
        struct queue *q = slot_of(handle);
        if (q && q->handle == handle)
            q->handle = HANDLE_GONE;
        lock_release(&lock);
    }
    return cl_invoke(below, words, 1);
}

/* ---- What the program does not see ---- */

static uintptr_t give(const uintptr_t *words, const void *value, size_t size)
{
    if (words[3] && words[2] < size)
        return (uintptr_t)(intptr_t)CL_INVALID_VALUE;
    if (words[3])
        memcpy((void *)words[3], value, size);
    if (words[4])
        *(size_t *)words[4] = size;
    return CL_SUCCESS;
}

static uintptr_t give_list(const struct queue *q, uintptr_t *words, void *below)
{
    uint64_t list[PROPERTIES];
    size_t size = 0;
    const uintptr_t mine[6] = {words[0], words[1], sizeof list, (uintptr_t)list, (uintptr_t)&size};

    if ((int)cl_invoke(below, mine, 5) != CL_SUCCESS || size > sizeof list || size < 8)
        return cl_invoke(below, words, 5);
    if (q->hidden == LIST_MADE)
        return give(words, list, 0);
    if (q->hidden == PAIR_ADDED && size >= 24) {
        size -= 16;
        list[size / 8 - 1] = 0;
    }
    for (size_t i = 0; q->hidden == BIT_SET && i + 1 < size / 8; i += 2)
        if (list[i] == CL_QUEUE_PROPERTIES)
            list[i + 1] &= ~(uint64_t)CL_QUEUE_PROFILING;
    return give(words, list, size);
}

uintptr_t queue_info(uintptr_t *words, void *below)
{
    struct queue q = look_up(words[0]);
    uintptr_t result;

    if (!q.handle || q.hidden == AS_ASKED)
        return cl_invoke(below, words, 5);
    if ((uint32_t)words[1] == CL_QUEUE_PROPERTIES_ARRAY)
        return give_list(&q, words, below);
    result = cl_invoke(below, words, 5);
    if ((uint32_t)words[1] == CL_QUEUE_PROPERTIES && (int)result == CL_SUCCESS && words[3])
        *(uint64_t *)words[3] &= ~(uint64_t)CL_QUEUE_PROFILING;
    return result;
}

/* Wraps OpenCL 1.0's way to set a property: a queue goes on telling times, and the program sees what it has asked
 * for. */
uintptr_t queue_set_property(uintptr_t *words, void *below)
{
    struct queue q = look_up(words[0]), *to;
    bool asks = words[1] & CL_QUEUE_PROFILING, was = q.hidden == AS_ASKED;
    uintptr_t result;

    if (!asks || q.untimed)
        return cl_invoke(below, words, 4);
    words[1] &= ~(uintptr_t)CL_QUEUE_PROFILING;
    result = cl_invoke(below, words, 4);
    if ((int)result != CL_SUCCESS)
        return result;
    if (words[3] && !was)
        *(uint64_t *)words[3] &= ~(uint64_t)CL_QUEUE_PROFILING;
    lock_take(&lock);
    to = slot_of(words[0]);
    if (to && to->handle == words[0])
        to->hidden = (uint32_t)words[2] ? AS_ASKED : BIT_SET;
    lock_release(&lock);
    return result;
}

uintptr_t queue_event_times(uintptr_t *words, void *below)
{
    uintptr_t handle = 0;

    if (cl_get(CL_clGetEventInfo, words[0], CL_EVENT_QUEUE, &handle, sizeof handle) && handle &&
        look_up(handle).hidden != AS_ASKED)
        return (uintptr_t)(intptr_t)CL_PROFILING_INFO_NOT_AVAILABLE;
    return cl_invoke(below, words, 5);
}

/* ---- Command buffers ---- */

/* Not asked of the driver: pocl 3.1 tells wrongly. */
uintptr_t buffer_create(uintptr_t *words, void *below)
{
    uintptr_t made = cl_invoke(below, words, 4);
    struct buffer *b;

    if (!made || !(uint32_t)words[0])
        return made;
    lock_take(&lock);
    b = handle_slot(buffers, sizeof *buffers, BUFFERS, made);
    if (b)
        *b = (struct buffer){made, *(const uintptr_t *)words[1]};
    lock_release(&lock);
    return made;
}

uintptr_t buffer_queue(uintptr_t buffer)
{
    const struct buffer *b;
    uintptr_t queue;

    lock_take(&lock);
    b = handle_slot(buffers, sizeof *buffers, BUFFERS, buffer);
    queue = b && b->handle == buffer ? b->queue : 0;
    lock_release(&lock);
    return queue;
}
