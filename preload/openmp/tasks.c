/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places of tasks, and the tasks of libgomp. The calls that gcc makes of `#pragma omp task` and `taskloop` get a
 * function of ours for that of the program, which sets a mark around it (marks.h), and arguments of ours before those
 * of the program, which name the place.
 *
 * Fixed by libgomp's binary interface: names and arguments; that the first two words of a taskloop's arguments receive
 * the bounds, and the third names its reductions; that the first word of a detached task's receives the handle of its
 * event, before they are copied. A runtime calls `copy` for a task that it keeps, and may run one that it does not keep
 * on the arguments as they are.
 *
 * A taskloop of more tasks than libgomp keeps is run one task after the other: on the arguments as they are, or, where
 * there is a function that copies them, on as many copies, all at once on the stack. So a loop without one gets none.
 */
#include "preload/openmp/gomp.h"
#include "preload/openmp/tasks.h"
#include "preload/process.h"
#include "preload/thread.h"

#include <string.h>

typedef void copy_function(void *to, void *from);

enum { PLACES_MOST = 8192, KNOWN_PLACES = 64, TRIES = 4 };
enum { UP = 1 << 8, DETACHED = 1 << 13 }; /* flags */
enum { LOOP_MOST = 1 << 16 };             /* bytes of arguments that are copied once more for a taskloop */

/* Where tasks are created. */
struct task_place {
    uint64_t call;                  /* return address */
    const struct task_place *outer; /* the task that it is within, NULL none */
    uint64_t id;                    /* lane << 32 | node */
    unsigned epoch;
};

static struct task_place places[PLACES_MOST];
static _Atomic(uint32_t) place_count;

struct known_place {
    uint64_t call, region;
    const struct task_place *outer, *place;
};
_Static_assert(sizeof(struct known_place) * KNOWN_PLACES <= sizeof(((struct lane_room *)0)->tasks),
               "what a thread knows of places has room in its lane");
static __thread const struct task_place *current __attribute__((tls_model("initial-exec")));

/* The arguments that a runtime is given instead of the program's, which stand behind them. */
struct task {
    uint64_t words[3]; /* what the runtime writes and reads there */
    body_function *body;
    copy_function *copy; /* NULL: bytes */
    const struct task_place *place;
    void *data; /* the program's own */
    size_t size;
    uint32_t offset;  /* of the program's arguments in a copy of this */
    uint32_t written; /* so many words are the runtime's for the program: 2 of a taskloop, 1 of a detached task */
    bool copied;
};

void tasks_forget(void)
{
    current = NULL; /* what is known of places is gone with the lane */
}

static void copy(void *to, void *from)
{
    const struct task *f = from;
    struct task *t = to;
    void *data = f->copied ? (char *)from + f->offset : f->data;

    *t = *f;
    t->copied = true;
    if (t->copy)
        t->copy((char *)to + t->offset, data);
    else if (t->size)
        memcpy((char *)to + t->offset, data, t->size);
}

static __attribute__((noinline)) void run(void *argument)
{
    struct task *t = argument;
    void *data = t->copied ? (char *)argument + t->offset : t->data;
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    const struct task_place *before = current;

    region_opening(false);
    if (t->written)
        memcpy(data, t->words, t->written * sizeof t->words[0]);
    if (t->place->epoch != process_epoch()) { /* created before a fork */
        t->body(data);
        return;
    }
    current = t->place;
    thread_runs();
    marks_enter((struct mark){here, t->place->id, HQM_NODE_INSIDE, MARK_OURS});
    t->body(data);
    thread_runs();
    marks_leave(here);
    current = before;
}

static __attribute__((noinline, cold)) const struct task_place *new_place(const struct known_place *key, uint64_t frame,
                                                                          const void *body)
{
    uint64_t id = region_of_tasks(frame, (const void *)key->call, body);
    uint32_t n = id ? atomic_fetch_add(&place_count, 1) : PLACES_MOST;

    if (n >= PLACES_MOST) {
        if (id)
            atomic_store(&place_count, PLACES_MOST);
        return NULL;
    }
    places[n] = (struct task_place){key->call, key->outer, id, process_epoch()};
    return &places[n];
}

const struct task_place *task_place_of(uint64_t region, uint64_t frame, const void *call, const void *body)
{
    struct known_place key = {(uint64_t)call, region, current && current->id == region ? current : NULL, NULL};
    struct known_place *known = self.lane ? (struct known_place *)self.lane->room->tasks : NULL, *k = NULL;
    uint64_t hash = ((key.call ^ region * 31) * 0x9e3779b97f4a7c15u) >> 32;

    for (const struct task_place *p = key.outer; p; p = p->outer)
        if (p->call == key.call)
            return p;
    for (uint32_t i = 0; known && i < TRIES; i++) {
        k = &known[(hash + i) % KNOWN_PLACES];
        if (k->call == key.call && k->region == region && k->outer == key.outer)
            return k->place;
        if (!k->call)
            break;
    }
    key.place = new_place(&key, frame, body);
    if (key.place && k)
        *k = key;
    return key.place;
}

uint64_t task_place_id(const struct task_place *place)
{
    return place && place->epoch == process_epoch() ? place->id : 0;
}

const struct task_place *task_run(const struct task_place *place)
{
    const struct task_place *before = current;

    current = place;
    return before;
}

static uint32_t offset_of_data(size_t boundary)
{
    return (uint32_t)((sizeof(struct task) + boundary - 1) & ~(boundary - 1));
}

static size_t boundary_of(long align)
{
    return align > (long)_Alignof(struct task) ? (size_t)align : _Alignof(struct task);
}

/* Puts our arguments before the program's: false, and all stays as it is, if the task's place cannot be found. */
static bool wrap(struct task *t, uint64_t frame, const void *call, body_function **body, void **data,
                 copy_function **copier, long *size, long *align)
{
    size_t boundary = boundary_of(*align);

    if (*size < 0 || boundary & (boundary - 1))
        return false;
    t->place = task_place_of(marks_region(), frame, call, (const void *)*body);
    if (!t->place)
        return false;
    t->body = *body;
    t->copy = *copier;
    t->data = *data;
    t->size = (size_t)*size;
    t->offset = offset_of_data(boundary);
    t->copied = false;
    t->written = 0;
    *body = run;
    *data = t;
    *copier = copy;
    *size += t->offset;
    *align = (long)boundary;
    return true;
}

/* Bytes of a taskloop's arguments with ours, in which they begin at a boundary; 0: they stay as they are. */
static size_t loop_room(copy_function *copier, long size, long align)
{
    size_t boundary = boundary_of(align);

    if (size < (long)(2 * sizeof((struct task *)0)->words[0]) || boundary & (boundary - 1) || boundary > LOOP_MOST)
        return 0;
    return copier ? sizeof(struct task) : size > LOOP_MOST ? 0 : offset_of_data(boundary) + (size_t)size;
}

static bool wrap_loop(void *room, uint64_t frame, const void *call, body_function **body, void **data,
                      copy_function **copier, long *size, long *align)
{
    size_t boundary = boundary_of(*align);
    struct task *t = (struct task *)(((uintptr_t)room + boundary - 1) & ~(uintptr_t)(boundary - 1));

    if (!wrap(t, frame, call, body, data, copier, size, align))
        return false;
    memcpy(t->words, t->data, t->size < sizeof t->words ? t->size : sizeof t->words);
    t->written = 2;
    if (!t->copy) {
        memcpy((char *)t + t->offset, t->data, t->size);
        t->copied = true;
        *copier = NULL;
    }
    return true;
}

/*
 * Without a runtime, which a weak reference may find only us in place of (weak.h), who creates a task runs it, and a
 * taskloop as one: `words` are its bounds, else NULL.
 */
static __attribute__((noinline, cold)) void run_alone(body_function *body, void *data, copy_function *copier, long size,
                                                      long align, const uint64_t *words)
{
    size_t boundary = boundary_of(align), bytes = copier && size > 0 && size <= LOOP_MOST ? (size_t)size : 0;
    char room[bytes ? bytes + boundary : 1];

    if (bytes && !(boundary & (boundary - 1))) {
        void *copied = (void *)(((uintptr_t)room + boundary - 1) & ~(uintptr_t)(boundary - 1));

        copier(copied, data);
        data = copied;
    }
    if (words)
        memcpy(data, words, 2 * sizeof *words);
    body(data);
}

#define FRAME (uint64_t) __builtin_frame_address(0)

void GOMP_task(body_function *body, void *data, copy_function *copier, long size, long align, bool deferred,
               unsigned flags, void **depend, int priority, void *detach);
EXPORT void GOMP_task(body_function *body, void *data, copy_function *copier, long size, long align, bool deferred,
                      unsigned flags, void **depend, int priority, void *detach)
{
    __typeof__(&GOMP_task) real_ = RUNTIME(GOMP_task, body);
    struct task task;

    if (!real_) {
        run_alone(body, data, copier, size, align, NULL);
        return;
    }
    if (wrap(&task, FRAME, CALLER, &body, &data, &copier, &size, &align)) {
        region_opening(true);
        task.written = flags & DETACHED ? 1 : 0;
    }
    real_(body, data, copier, size, align, deferred, flags, depend, priority, detach);
    region_opening(false);
}

#define TASKLOOP(function, number, upwards) \
    void function(body_function *body, void *data, copy_function *copier, long size, long align, unsigned flags, \
                  unsigned long tasks, int priority, number start, number end, number step); \
    EXPORT void function(body_function *body, void *data, copy_function *copier, long size, long align, \
                         unsigned flags, unsigned long tasks, int priority, number start, number end, number step) \
    { \
        __typeof__(&function) real_ = RUNTIME(function, body); \
\
        if (!real_) { \
            if ((upwards) ? start < end : start > end) \
                run_alone(body, data, copier, size, align, (uint64_t[]){(uint64_t)start, (uint64_t)end}); \
            return; \
        } \
        size_t bytes = loop_room(copier, size, align); \
        char room[bytes ? bytes + boundary_of(align) : 1]; \
\
        region_opening(bytes &&wrap_loop(room, FRAME, CALLER, &body, &data, &copier, &size, &align)); \
        real_(body, data, copier, size, align, flags, tasks, priority, start, end, step); \
        region_opening(false); \
    }
TASKLOOP(GOMP_taskloop, long, step > 0)
TASKLOOP(GOMP_taskloop_ull, unsigned long long, (flags & UP) != 0)
