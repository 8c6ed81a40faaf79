/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libgomp: the calls that gcc makes of `#pragma omp parallel` get a function of ours for that of the program, which
 * sets a mark in each thread of the team and calls the program's. libomp has these calls too, for programs compiled by
 * gcc.
 *
 * Fixed by libgomp's binary interface: names, arguments, and that each thread has returned from its function before the
 * call that opened the region returns; that of the data only GOMP_parallel_reductions reads, the first word. Arguments
 * that a later version adds at the end are none of ours.
 */
#include "preload/openmp/gomp.h"
#include "preload/thread.h"

#include <stddef.h>

/*
 * No version of the interface lacks omp_get_num_threads. The teams of a `teams` construct have one thread each, and
 * libgomp runs them in turn.
 */
static void count_team(const struct region *r)
{
    if (r->threads)
        region_team(r, r->threads());
}

static void find_team_size(struct region *r)
{
    r->threads = (int (*)(void))runtime_find("omp_get_num_threads", (const void *)r->body);
}

/* In every thread of a team. */
static __attribute__((noinline)) void run(void *argument)
{
    struct region *r = argument;
    uint64_t here = (uint64_t)__builtin_frame_address(0);

    region_opening(false);
    thread_runs();
    marks_enter((struct mark){here, r->id, HQM_NODE_INSIDE, MARK_OURS});
    if (r->home == &marks)
        count_team(r);
    r->body(r->data);
    thread_runs();
    marks_leave(here);
    if (r->home == &marks)
        marks_enter((struct mark){r->frame, r->id, HQM_NODE_WAIT, MARK_OURS});
    else if (r->turns)
        marks_wait(r->id, r->turns, r->value);
}

static void leave(struct region *r)
{
    if (!r->id)
        return;
    region_opening(false);
    thread_runs();
    marks_leave(r->frame);
    region_close(r);
}

/*
 * Opens a region around the rest of the function: `body` and `data` become ours, `real_` is the runtime's function.
 * There is none if the program's reference to it is weak and the runtime is not there. `more`: HQM_RUNTIME_LEAGUE or 0.
 */
#define OPEN(function, more) \
    __attribute__((cleanup(leave))) struct region region_ = { \
        .body = body, .data = data, .frame = (uint64_t)__builtin_frame_address(0)}; \
    __typeof__(&function) real_ = RUNTIME(function, body); \
    if (real_ && region_open(&region_, (const void *)body, CALLER, HQM_RUNTIME_GOMP | (more))) { \
        body = run; \
        data = &region_; \
        find_team_size(&region_); \
        region_opening(true); \
    }

#define OPENS(function, more, parameters, ...) \
    void function parameters; \
    EXPORT void function parameters \
    { \
        OPEN(function, more) \
        if (real_) \
            real_(__VA_ARGS__); \
        else \
            body(data); \
    }

#define PARALLEL(function, parameters, ...) OPENS(function, 0, parameters, __VA_ARGS__)
#define LOOP(function) \
    PARALLEL(function, \
             (body_function * body, void *data, unsigned threads, long start, long end, long step, long chunk, \
              unsigned flags), \
             body, data, threads, start, end, step, chunk, flags)
#define LOOP_RUNTIME(function) \
    PARALLEL(function, \
             (body_function * body, void *data, unsigned threads, long start, long end, long step, unsigned flags), \
             body, data, threads, start, end, step, flags)

PARALLEL(GOMP_parallel, (body_function * body, void *data, unsigned threads, unsigned flags), body, data, threads,
         flags)
PARALLEL(GOMP_parallel_sections, (body_function * body, void *data, unsigned threads, unsigned count, unsigned flags),
         body, data, threads, count, flags)
OPENS(GOMP_teams_reg, HQM_RUNTIME_LEAGUE,
      (body_function * body, void *data, unsigned teams, unsigned limit, unsigned flags), body, data, teams, limit,
      flags)
LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)
LOOP_RUNTIME(GOMP_parallel_loop_runtime)
LOOP_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
LOOP_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

unsigned GOMP_parallel_reductions(body_function *body, void *data, unsigned threads, unsigned flags);
EXPORT unsigned GOMP_parallel_reductions(body_function *body, void *data, unsigned threads, unsigned flags)
{
    void *reductions = *(void **)data; /* the first word of the data names them, and the runtime reads it */

    OPEN(GOMP_parallel_reductions, 0)
    region_.first = reductions;
    if (real_)
        return real_(body, data, threads, flags);
    body(data);
    return 1;
}

/*
 * Until gcc 4.8 a region was opened by one call and ended by another; between the two the program itself called its
 * function in the thread that had opened it. So what the other threads are given outlives the first call.
 */
static __thread struct region started[LANE_REGIONS] __attribute__((tls_model("initial-exec")));
static __thread uint32_t started_count __attribute__((tls_model("initial-exec")));

/* `sp` lies between the frames of the program's function and of ours. */
static struct region *start(body_function **body, void **data, uint64_t sp)
{
    struct region *r = &started[started_count < LANE_REGIONS ? started_count : 0];

    if (started_count++ >= LANE_REGIONS)
        return NULL;
    *r = (struct region){.body = *body, .data = *data, .frame = sp - 8};
    if (!region_open(r, (const void *)*body, (const void *)*(const uint64_t *)sp, HQM_RUNTIME_GOMP))
        return NULL;
    find_team_size(r);
    r->frame = sp;
    *body = run;
    *data = r;
    return r;
}

#define START(function, parameters, ...) \
    void function parameters; \
    EXPORT void function parameters \
    { \
        uint64_t sp_ = (uint64_t)__builtin_frame_address(0) + 8; \
        __typeof__(&function) real_ = RUNTIME(function, body); \
        struct region *region_ = real_ ? start(&body, &data, sp_) : NULL; \
        region_opening(region_ != NULL); \
        if (real_) \
            real_(__VA_ARGS__); \
        region_opening(false); \
        if (region_) { \
            marks_enter((struct mark){sp_, region_->id, HQM_NODE_INSIDE, MARK_ANY}); \
            count_team(region_); \
        } \
    }
#define LOOP_START(function) \
    START(function, (body_function * body, void *data, unsigned threads, long first, long end, long step, long chunk), \
          body, data, threads, first, end, step, chunk)

START(GOMP_parallel_start, (body_function * body, void *data, unsigned threads), body, data, threads)
START(GOMP_parallel_sections_start, (body_function * body, void *data, unsigned threads, unsigned count), body, data,
      threads, count)
START(GOMP_parallel_loop_runtime_start,
      (body_function * body, void *data, unsigned threads, long first, long end, long step), body, data, threads, first,
      end, step)
LOOP_START(GOMP_parallel_loop_static_start)
LOOP_START(GOMP_parallel_loop_dynamic_start)
LOOP_START(GOMP_parallel_loop_guided_start)

void GOMP_parallel_end(void);
EXPORT void GOMP_parallel_end(void)
{
    __typeof__(&GOMP_parallel_end) real_;
    struct region *r = NULL;

    if (started_count && --started_count < LANE_REGIONS && started[started_count].id)
        r = &started[started_count];
    real_ = RUNTIME(GOMP_parallel_end, r ? (const void *)r->body : CALLER);
    if (r)
        marks_enter((struct mark){r->frame, r->id, HQM_NODE_WAIT, MARK_ANY});
    if (real_)
        real_();
    if (r)
        leave(r);
}
