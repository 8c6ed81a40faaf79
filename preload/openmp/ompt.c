/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libomp (clang, icx, flang) tells a tool what it does (OMPT: OpenMP 5.1, chapter 19, whose declarations are repeated
 * here). A runtime looks for ompt_start_tool when it starts, and finds ours, since the library is loaded first.
 *
 * Threads of the runtime are of a region from the begin of their implicit task until the thread that opened it has left
 * it; what is not the program's code meanwhile waits at the region's end. In the thread that opened it the same holds
 * below the runtime's function that the program called.
 */
#include "preload/export.h"
#include "preload/openmp/fork.h"
#include "preload/openmp/ompt.h"
#include "preload/openmp/region.h"
#include "preload/openmp/tasks.h"
#include "preload/options.h"
#include "preload/start.h"
#include "preload/thread.h"
#include "preload/walk/find.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

enum { OMPT_PARALLEL_BEGIN = 3, OMPT_PARALLEL_END = 4, OMPT_IMPLICIT_TASK = 7 }; /* ompt_callbacks_t */
enum { OMPT_SCOPE_BEGIN = 1, OMPT_PARALLEL_LEAGUE = 0x40000000 };

typedef int (*set_callback_function)(int event, void (*callback)(void));

struct ompt_start_tool_result {
    int (*initialize)(lookup_function lookup, int device, union ompt_data *data);
    void (*finalize)(union ompt_data *data);
    union ompt_data data;
};

/* The structures that the threads of a team are given. They outlive the call that opened the region, because a worker
 * may be late to see its end. */
static __thread struct region opened[LANE_REGIONS] __attribute__((tls_model("initial-exec")));
static __thread uint32_t opened_count __attribute__((tls_model("initial-exec")));

/* The runtime. A region that it opens itself is none of the program's, but the team of its hidden helper threads, which
 * run target tasks. */
static struct object own;

/* Of the runtime's function that the program has called, if it keeps its frame where it says: 0 otherwise. */
static uint64_t frame_of_call(const struct ompt_frame *frame, const void *call)
{
    uint64_t at = frame ? frame->enter.value : 0, low, high;

    thread_stack(at, &low, &high);
    if (at % 8 || at < low || at >= high || high - at < 16)
        return 0;
    return ((const void *const *)at)[1] == call ? at : 0;
}

static void on_parallel_begin(union ompt_data *task, const struct ompt_frame *frame, union ompt_data *region,
                              unsigned threads, int flags, const void *call)
{
    struct region *r = opened_count < LANE_REGIONS ? &opened[opened_count] : NULL;
    uint64_t body;

    (void)task, (void)threads;
    region->ptr = NULL;
    if (region_is_opening())
        return; /* gomp.c has it */
    opened_count++;
    if (!r || !call)
        return; /* without a call it is a team of a league, which libomp makes for itself */
    body = (uint64_t)fork_body(call);
    if (body >= own.start && body < own.end)
        return;
    r->frame = frame_of_call(frame, call);
    if (region_open(r, (const void *)body, call,
                    HQM_RUNTIME_OMPT | (flags & OMPT_PARALLEL_LEAGUE ? HQM_RUNTIME_LEAGUE : 0)))
        region->ptr = r;
}

static void on_parallel_end(union ompt_data *region, union ompt_data *task, int flags, const void *call)
{
    struct region *r = region->ptr;

    (void)task, (void)flags, (void)call;
    if (opened_count && !region_is_opening())
        opened_count--;
    if (!r || !r->id)
        return;
    if (r->frame)
        marks_leave(r->frame);
    region_close(r);
    r->id = 0;
}

static void on_implicit_task(int endpoint, union ompt_data *region, union ompt_data *task, unsigned threads,
                             unsigned index, int flags)
{
    struct region *r = region && endpoint == OMPT_SCOPE_BEGIN ? region->ptr : NULL;

    (void)task, (void)index, (void)flags;
    if (!r || !r->id)
        return;
    if (r->home == &marks)
        region_team(r, (int)threads);
    if (r->home != &marks && r->turns)
        marks_wait(r->id, r->turns, r->value);
    else if (r->home == &marks && r->frame)
        marks_enter((struct mark){r->frame, r->id, HQM_NODE_WAIT, MARK_ANY});
}

static int initialize(lookup_function lookup, int device, union ompt_data *data)
{
    set_callback_function set = (set_callback_function)lookup("ompt_set_callback");

    (void)device, (void)data;
    if (!set)
        return 0;
    find_object((uint64_t)lookup, &own);
    set(OMPT_PARALLEL_BEGIN, (void (*)(void))on_parallel_begin);
    set(OMPT_PARALLEL_END, (void (*)(void))on_parallel_end);
    set(OMPT_IMPLICIT_TASK, (void (*)(void))on_implicit_task);
    ompt_tasks_start(set, lookup);
    return 1;
}

static void finalize(union ompt_data *data)
{
    (void)data;
    own = (struct object){0}; /* it may be unloaded */
}

/* There is one tool in a process, and that of the program comes first. */
struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime);
EXPORT struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct ompt_start_tool_result ours = {.initialize = initialize, .finalize = finalize};
    __typeof__(&ompt_start_tool) next = REAL(ompt_start_tool);
    struct ompt_start_tool_result *others = next ? next(version, runtime) : NULL;
    const char *libraries = getenv("OMP_TOOL_LIBRARIES");

    start_once();
    if (!options.active)
        return others;
    if (others || (libraries && *libraries)) {
        say("the program has an OpenMP tool of its own, so its parallel regions are not joined", NULL);
        return others;
    }
    return &ours;
}
