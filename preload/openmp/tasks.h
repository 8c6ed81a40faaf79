/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where tasks are created, whichever runtime runs them: what a task does hangs below the call that created it.
 *
 * That place is not walked to for each task, for one may take 0.2 us: the first task that a thread creates by one call
 * in one region, or in one task, is walked to, and stands for all that follow. A task that creates others by the call
 * that has created it, or one of those that it is within, stays where it is: tasks that recur have one place. Not for
 * signal handlers.
 */
#ifndef HQ_PRELOAD_OPENMP_TASKS_H
#define HQ_PRELOAD_OPENMP_TASKS_H

#include <stdint.h>

struct task_place; /* ends with the process */

/*
 * Where this task is created, NULL if that cannot be had: by the call that returns to `call`, within `region` (of
 * marks.h). `frame`: frame pointer of our function that the program has called for it; 0: the call is looked for on the
 * stack. `body` names the procedure that the task runs, if it is known (else NULL).
 */
const struct task_place *task_place_of(uint64_t region, uint64_t frame, const void *call, const void *body);

/* Its name for a mark; 0: it is of the process that has forked this one. */
uint64_t task_place_id(const struct task_place *place);

/* The thread runs a task of this place (NULL: none) from now on; returns that of before. */
const struct task_place *task_run(const struct task_place *place);

/* In a forked child, which has nothing of its parent's places. */
void tasks_forget(void);

/* libomp's tasks (ompt_tasks.c): asks the runtime to tell of them. */
typedef void (*(*lookup_function)(const char *name))(void);
void ompt_tasks_start(int (*set)(int event, void (*callback)(void)), lookup_function lookup);

#endif
