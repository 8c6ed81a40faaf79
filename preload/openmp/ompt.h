/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to ompt.c and ompt_tasks.c: declarations of OMPT (OpenMP 5.1, chapter 19) that both need. */
#ifndef HQ_PRELOAD_OPENMP_OMPT_H
#define HQ_PRELOAD_OPENMP_OMPT_H

#include <stdint.h>

union ompt_data {
    uint64_t value;
    void *ptr;
};

/* Of a task: the frames from which the runtime has called its procedure, and where this has called the runtime. */
struct ompt_frame {
    union ompt_data exit, enter;
    int exit_flags, enter_flags;
};

#endif
