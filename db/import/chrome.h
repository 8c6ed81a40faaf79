/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of devices in Chrome traces: PyTorch's profiler gives events a category ("kernel", "gpu_memcpy"), rocprof
 * puts them into processes called GPU0 and COPY. Each stream is a queue of its device, its events are commands. When
 * they were enqueued, and by which code, such files tell only for some; here nothing of it is taken.
 */
#ifndef HQ_DB_IMPORT_CHROME_H
#define HQ_DB_IMPORT_CHROME_H

#include "db/import/target.h"

enum chrome_category {
    CHROME_OTHER,
    CHROME_ON_DEVICE,    /* a command */
    CHROME_ABOUT_DEVICE, /* spans over commands, which would count twice */
    CHROME_WHOLE,        /* PyTorch's profiler from its start to its end is of it, beside what it has seen */
};
enum chrome_category chrome_category(const char *text, size_t len); /* chrome_devices.c */

/* Is a process one of rocprof's that stands for a device? */
bool chrome_is_device(const char *process);

struct chrome_devices { /* starts as zeros */
    uint32_t time, commands;
    bool is_known; /* the metrics are there */
    struct map frames;
};

/* A profile that is a queue of the device that its process's name, or number, says. */
void chrome_queue(struct chrome_devices *d, struct import *im, uint32_t profile, const char *process, uint32_t pid);

/* A command by the name of its event; its frame. Times in ns; the caller counts how long it took, in `time`. */
uint32_t chrome_command(struct chrome_devices *d, struct import *im, uint32_t profile, const char *name, int64_t start,
                        int64_t took);

#endif
