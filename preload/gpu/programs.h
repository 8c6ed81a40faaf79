/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The programs and kernels that the program has made: kernels of one name in two programs are two. A program is known
 * by a hash of what it was made of, and by the options that it was built with, so it is the same in all processes and
 * runs. Its source is kept beside the measurements.
 */
#ifndef HQ_PRELOAD_GPU_PROGRAMS_H
#define HQ_PRELOAD_GPU_PROGRAMS_H

#include "preload/gpu/opencl.h"

/* Returns the number (hq_device_command) of launching a kernel, for hq_device_here. */
uint64_t kernel_command(uintptr_t kernel);

/* In a forked child: a lock that another thread held is free. */
void programs_forget(void);

/* WATCHED of calls.def. */
uintptr_t program_create(enum function f, uintptr_t *words, void *below);
uintptr_t program_build(enum function f, uintptr_t *words, void *below);
uintptr_t kernel_create(enum function f, uintptr_t *words, void *below);

#endif
