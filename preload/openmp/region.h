/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A parallel region from its opening to its end, whichever runtime runs it. Its identity is the call path that opens
 * it, walked when it is opened, with what the previous walk knows. Not for signal handlers.
 */
#ifndef HQ_PRELOAD_OPENMP_REGION_H
#define HQ_PRELOAD_OPENMP_REGION_H

#include "preload/file/lane.h"
#include "preload/openmp/marks.h"

struct region {
    void *first;          /* libgomp's GOMP_parallel_reductions reads it here, in place of the program's data */
    void (*body)(void *); /* the program's procedure for each thread, with its argument; libgomp only */
    void *data;
    int (*threads)(void);     /* the runtime's count of the present team, NULL: not known; libgomp only */
    uint64_t frame;           /* frame pointer of our function that opens it, 0 none: the call is told from there, and
                                 below it the thread waits for the others (marks.h) */
    uint64_t id;              /* lane << 32 | node; 0: none, nothing is to be done */
    const struct marks *home; /* of the thread that opened it */
    struct turns *turns;      /* their count is no longer `value` when it has ended; NULL: not known */
    uint64_t value;
    struct hqm_region *record; /* NULL: not counted */
    struct place at;           /* of the call */
    uint64_t start_ns;
    unsigned epoch;
};

/*
 * The calling thread is about to open a region by a call that returns to `call`. `body` tells regions of one call site
 * apart and names the procedure that its threads run, if it is known (else NULL). `runtime`: enum hqm_runtime. Where
 * r->frame is 0, or the runtime's and does not lead to its caller, the call is looked for on the stack, and r->frame
 * becomes a place there below which all is inside of the call. False: the region is not measured.
 */
bool region_open(struct region *r, const void *body, const void *call, uint32_t runtime);

/*
 * The name of the place (lane << 32 | node) where the caller of our function with this frame pointer creates tasks with
 * a procedure `body`; with frame 0, where the call that returns to `call` does. 0: it cannot be had.
 */
uint64_t region_of_tasks(uint64_t frame, const void *call, const void *body);

/* In the thread that opened it: its team has so many threads, by the runtime's count; below 1 it is not known. */
static inline void region_team(const struct region *r, int threads)
{
    if (!r->record || threads < 1)
        return;
    r->record->threads += (uint64_t)threads;
    if ((uint32_t)threads > r->record->largest)
        r->record->largest = (uint32_t)threads;
}

/* It has left it. */
void region_close(struct region *r);

/* libomp has libgomp's functions too: while the call of one opens a region or creates a task, libomp's own word of it
 * is not heard. */
extern __thread bool region_is_opening_ __attribute__((tls_model("initial-exec")));
static inline void region_opening(bool opening)
{
    region_is_opening_ = opening;
}
static inline bool region_is_opening(void)
{
    return region_is_opening_;
}

/* In a forked child, which has nothing of its parent's regions. */
void regions_forget(void);

#endif
