/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks of libgomp (tasks.c). */
#ifndef HQ_PRELOAD_OPENMP_TASKS_H
#define HQ_PRELOAD_OPENMP_TASKS_H

/* In a forked child, which has nothing of its parent's places. */
void tasks_forget(void);

#endif
