/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions for a source of device activity, whatever the interface by which programs drive their devices: the
 * source asks for the host's calling context when a command is given, and hands over a record of what the device did
 * when the command has ended. preload/gpu/ is the source for OpenCL; others are libraries of their own like it, and
 * link with libhqpreload.so.
 *
 *     uint64_t axpy = hq_device_command("[kernel axpy]", hq_device_program("axpy.cl"));         once
 *
 *     struct device_call call;
 *     bool known = hq_device_here(function, axpy, &call);     in the thread that gives the command, before it
 *     ... the command is given ...
 *     if (known) hq_device_begun(&call);      once it is under way
 *     ... and on any thread, when it has ended:
 *     hq_device_ended(&call, &record);
 *
 * None calls malloc, or takes a lock, but for a short one where the size of the file is bounded; errno is kept. Not in
 * signal handlers.
 */
#ifndef HQ_PRELOAD_SOURCES_DEVICE_H
#define HQ_PRELOAD_SOURCES_DEVICE_H

#include "format/measurement.h"

#include <stdbool.h>
#include <stddef.h>

/* Where a thread of the host gave a device something to do. */
struct device_call {
    uint32_t lane, node;             /* of the command; node 0: there is none */
    uint32_t entry_node, entry_path; /* of the function that the program called */
    uint32_t thread, epoch;
};

/*
 * Numbers for the names of programs and of commands, which say what a command does. They hold until the process forks
 * (hq_exact_epoch). 0: there is no space. Names are kept, so the same one has one number. Of a program the name may go
 * on behind a space with what tells it from others of the same text: "axpy.cl -DTWICE".
 */
uint32_t hq_device_program(const char *name);
uint64_t hq_device_command(const char *name, uint32_t program);

/* Keeps the text of a program, whose name (up to the first space) is a file's, for `source of`. */
void hq_device_source(const char *name, const char *text, size_t bytes);

/*
 * The call path from the program into `function`, which it has called: frames of the function's own load module, and of
 * the collector, are left out, then the function becomes the innermost frame, and the command a row below that; 0: it
 * will be no command. False: nothing is measured now, or there is no space (counted).
 */
bool hq_device_here(const void *function, uint64_t command, struct device_call *call);

/* The host has spent time at such a place, in the same thread: what `event` (hq_exact_event) counts. */
void hq_device_spent(const struct device_call *call, int event, uint64_t ns);

/* This thread has waited for devices from one time to another (CLOCK_MONOTONIC); or with a number, which is one of
 * those of commands, has set an event of the program's own, at the first. */
void hq_device_host(uint32_t number, uint64_t from_ns, uint64_t to_ns);

/* A command is under way: it counts as lost until it has ended. */
void hq_device_begun(const struct device_call *call);

/* It has ended. `record` is filled but for lane, node and thread. Of a command of a process before a fork nothing is
 * kept. Any thread, also one that the collector does not know. */
void hq_device_ended(const struct device_call *call, struct hqm_command *record);

/* It has failed: it is counted as that. */
void hq_device_failed(const struct device_call *call);

/* Makes a queue known; its number, 0: there is no space. `queue` is filled but for `device` and `start_us`. */
uint32_t hq_device_queue(const char *device, struct hqm_queue queue);

/* The device's clock was `device_ns` at an instant between two of the host's (CLOCK_MONOTONIC). Where it can be read:
 * now and then, for what is known of its offset and drift otherwise is what commands tell. */
void hq_device_clock(uint32_t queue, uint64_t before_ns, uint64_t after_ns, uint64_t device_ns);

/* Inside of the collector: in a forked child, whose file is another. */
void device_forget(void);

#endif
