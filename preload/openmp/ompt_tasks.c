/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks of libomp, as OMPT tells of them. A task is given its place when it is created; when a thread begins to run it,
 * a mark is set at the frame of the runtime's function that calls the program's, which the runtime names.
 *
 * Tasks run one within the other on a thread's stack, and a runtime tells of a begin and of an end by the same event:
 * an end is what completes a task, or what goes back from the innermost one to the one that it had interrupted (parts
 * of untied tasks).
 */
#include "preload/openmp/ompt.h"
#include "preload/openmp/region.h"
#include "preload/openmp/tasks.h"

#include <stdbool.h>
#include <stddef.h>

enum { OMPT_TASK_CREATE = 5, OMPT_TASK_SCHEDULE = 6 }; /* ompt_callbacks_t */
enum { OMPT_TASK_EXPLICIT = 0x4, OMPT_TASK_TARGET = 0x8 };
enum { OMPT_TASK_HERE = (int)(0x08000000u | 0x80000000u) };                  /* undeferred, merged */
enum { OMPT_TASK_COMPLETE = 1, OMPT_TASK_CANCEL = 3, OMPT_TASK_DETACH = 4 }; /* ompt_task_status_t */

static int (*task_info)(int ancestor, int *flags, union ompt_data **task, struct ompt_frame **frame,
                        union ompt_data **region, int *thread);

enum { RUNNING_MOST = 24, FRAME_FAR = 1 << 16 };

struct running {
    const union ompt_data *task, *interrupted;
    const struct task_place *before;
    uint64_t frame;
};
static __thread struct running running[RUNNING_MOST] __attribute__((tls_model("initial-exec")));
static __thread uint32_t running_count __attribute__((tls_model("initial-exec")));

/* One that is run at once and by its creator's call hangs below it anyway. */
static void on_create(union ompt_data *creator, const struct ompt_frame *frame, union ompt_data *task, int flags,
                      int depends, const void *call)
{
    (void)creator, (void)frame, (void)depends;
    task->ptr = NULL;
    if (region_is_opening()) /* tasks.c has it */
        return;
    if (!(flags & (OMPT_TASK_EXPLICIT | OMPT_TASK_TARGET)) || flags & OMPT_TASK_HERE || !call)
        return;
    marks_settle();
    task->ptr = (void *)task_place_of(marks.count ? marks.mark[marks.count - 1].region : 0, 0, call, NULL);
}

/* The frame from which the task's procedure is called: 0 if it is not known, or cannot be. */
static uint64_t frame_of(const union ompt_data *task)
{
    uint64_t here = (uint64_t)__builtin_frame_address(0), frame;
    union ompt_data *innermost = NULL;
    struct ompt_frame *f = NULL;

    if (!task_info || task_info(0, NULL, &innermost, &f, NULL, NULL) != 2 || innermost != task || !f)
        return 0;
    frame = f->exit.value;
    return frame > here && frame - here < FRAME_FAR ? frame : 0;
}

static void begin(const union ompt_data *interrupted, const union ompt_data *task)
{
    const struct task_place *place = task ? task->ptr : NULL;
    uint64_t id = task_place_id(place), frame = id ? frame_of(task) : 0;

    /* Entries that a jump has left behind lie at or below. */
    while (frame && running_count && running[running_count - 1].frame <= frame)
        running_count--;
    if (!frame || running_count == RUNNING_MOST)
        return;
    running[running_count++] = (struct running){task, interrupted, task_run(place), frame};
    marks_enter((struct mark){frame - 8, id, HQM_NODE_WAIT, MARK_ANY});
}

static void on_schedule(union ompt_data *prior, int status, union ompt_data *next)
{
    const struct running *r = running_count ? &running[running_count - 1] : NULL;
    bool innermost = r && r->task == prior;
    bool ends = status == OMPT_TASK_COMPLETE || status == OMPT_TASK_CANCEL || status == OMPT_TASK_DETACH ||
                (innermost && r->interrupted == next);

    if (!ends) {
        begin(prior, next);
    } else if (innermost) {
        running_count--;
        task_run(r->before);
        marks_leave(r->frame);
    }
}

void ompt_tasks_start(int (*set)(int event, void (*callback)(void)), lookup_function lookup)
{
    task_info = (__typeof__(task_info))lookup("ompt_get_task_info");
    if (!task_info)
        return;
    set(OMPT_TASK_CREATE, (void (*)(void))on_create);
    set(OMPT_TASK_SCHEDULE, (void (*)(void))on_schedule);
}
