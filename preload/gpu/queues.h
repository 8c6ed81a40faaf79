/* SPDX-License-Identifier: BSD-3-Clause */
/* The queues of commands that the program has. All of them tell times, whether the program has asked for that or not;
 * what it has not asked for it does not see. */
#ifndef HQ_PRELOAD_GPU_QUEUES_H
#define HQ_PRELOAD_GPU_QUEUES_H

#include "preload/gpu/opencl.h"

/* A queue of the program, found by its handle. */
struct queue {
    uintptr_t handle; /* 0: free */
    uint32_t number;  /* hq_device_queue, 0: it is not measured */
    uint32_t epoch;   /* + 1, of the process in which it has this number */
    uint8_t hidden;   /* enum hidden */
    bool untimed;     /* it tells no times */
    bool silent;      /* its driver, of OpenCL 1.0, calls nobody back */
    uintptr_t device; /* whose clock can be read; 0: it cannot */
    uint64_t read_ns; /* when it was */
};

/* The queue of a handle, made known if it is new. */
struct queue queue_of(uintptr_t handle);

/* Reads the clock of the queue's device, where it has one that can be read and it is time to. */
void queue_clock(uintptr_t handle);

/* In a forked child: a lock that another thread held is free. */
void queues_forget(void);

/* The first queue of a command buffer, 0: not known. */
uintptr_t buffer_queue(uintptr_t buffer);

/* WATCHED of calls.def. */
uintptr_t buffer_create(uintptr_t *words, void *below);
uintptr_t queue_create(enum function f, uintptr_t *words, void *below);
uintptr_t queue_release(uintptr_t *words, void *below);
uintptr_t queue_info(uintptr_t *words, void *below);
uintptr_t queue_set_property(uintptr_t *words, void *below);
uintptr_t queue_event_times(uintptr_t *words, void *below);

#endif
