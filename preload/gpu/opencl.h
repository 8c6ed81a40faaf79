/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenCL as libhqgpu.so sees it: functions by their numbers in a loader's table, arguments as words, handles as words.
 * So one form of call does for all versions, and no header of OpenCL is needed. All is as in version 3.0.
 */
#ifndef HQ_PRELOAD_GPU_OPENCL_H
#define HQ_PRELOAD_GPU_OPENCL_H

#include "preload/sources/exact.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { CL_WORDS = 16, NONE = 31 };

enum function {
#define OTHER(name)        CL_##name,
#define COMMAND(name, ...) CL_##name,
#define WATCHED(name, ...) CL_##name,
#define EXTENSION(...)
#define EXTENSION_WATCHED(...)
#include "preload/gpu/calls.def"
    FUNCTIONS_OF_TABLE,
    LAST_OF_TABLE = FUNCTIONS_OF_TABLE - 1,
#define EXTENSION(name, ...)         CL_##name,
#define EXTENSION_WATCHED(name, ...) CL_##name,
#include "preload/gpu/calls.def"
    FUNCTIONS
};

enum {
    CL_SUCCESS = 0,
    CL_PROFILING_INFO_NOT_AVAILABLE = -7,
    CL_INVALID_VALUE = -30,
    CL_FAILED = -1001, /* what a loader without any driver returns */

    CL_QUEUE_OUT_OF_ORDER = 1,
    CL_QUEUE_PROFILING = 2,
    CL_QUEUE_ON_DEVICE = 4,

    CL_PLATFORM_VERSION = 0x0901,
    CL_DEVICE_NAME = 0x102b,
    CL_DEVICE_VERSION = 0x102f,
    CL_DEVICE_PLATFORM = 0x1031,
    CL_DEVICE_PARENT = 0x1042,
    CL_QUEUE_CONTEXT = 0x1090,
    CL_QUEUE_DEVICE = 0x1091,
    CL_QUEUE_REFERENCES = 0x1092,
    CL_QUEUE_PROPERTIES = 0x1093,
    CL_QUEUE_PROPERTIES_ARRAY = 0x1098,
    CL_IMAGE_ELEMENT_SIZE = 0x1111,
    CL_KERNEL_NAME = 0x1190,
    CL_KERNEL_PROGRAM = 0x1194,
    CL_EVENT_QUEUE = 0x11d0,
    CL_EVENT_COMMAND_TYPE = 0x11d1,
    CL_EVENT_REFERENCES = 0x11d2,
    CL_EVENT_STATUS = 0x11d3,
    CL_COMMAND_USER = 0x1204,
    CL_PROFILING_QUEUED = 0x1280, /* then submit, start, end */

    CL_LAYER_API_VERSION = 0x4240,
    CL_LAYER_NAME = 0x4241,
    CL_LAYER_API_100 = 100,
};
#define CL_DEVICE_TYPE_ALL 0xffffffffu

/* The amount that a command moves, by its arguments. */
enum amount {
    NOTHING,
    SIZE,   /* bytes: a number */
    REGION, /* three numbers, whose product is bytes */
    PIXELS, /* the same in pixels of an image */
    RANGE,  /* no bytes; work-items: as many numbers as argument 2 says */
    ONE     /* a single work-item */
};

struct command_row {
    const char *name, *shown;
    uint8_t words, event, kind, amount, where, image, blocking;
};
extern const struct command_row command_rows[FUNCTIONS]; /* name NULL: it is no command */

/* ---- Functions below us: those of the loader, or, where we are its layer, what it gave us ---- */

/* Calls a function with arguments as words. There is room for more of them than `count`: for 6, 10 or 14. */
uintptr_t cl_invoke(void *function, const uintptr_t *words, unsigned count); /* wrappers.c */

/* The function to be called; NULL if there is none. */
void *cl_below(enum function f);

/* Calls a function with arguments, at most 6; CL_FAILED if there is none. */
#define CL(name, ...) \
    ({ \
        const uintptr_t words_[6] = {__VA_ARGS__}; \
        void *below_ = cl_below(CL_##name); \
        below_ ? (int)cl_invoke(below_, words_, 6) : CL_FAILED; \
    })

/* The function as the program calls it, in the loader: it names the row of the tree. */
const void *cl_entry(enum function f);

/* A property by one of the functions of the form (object, property, size, value, size of it); false: it has none. */
bool cl_get(enum function f, uintptr_t object, unsigned property, void *value, size_t size);

/* The host's clock that all else here is on: CLOCK_MONOTONIC, in ns. */
static inline uint64_t now(void)
{
    return hq_exact_now();
}

/* ---- What is done with a call: `below` is the function itself ---- */

uintptr_t command_enqueued(enum function f, uintptr_t *words, void *below); /* commands.c */
uintptr_t call_watched(enum function f, uintptr_t *words, void *below);

/* Ends commands that have ended and whose drivers call nobody back: some of them, or looks at all. */
void commands_look(bool all); /* commands.c */

/* A call whose elapsed time an event counts; count: of the arguments. */
uintptr_t host_time(enum function f, uintptr_t *words, void *below, unsigned count, int event);

/* The address of a function of an extension: ours in place of the driver's, if it gives commands. */
uintptr_t extension_address(enum function f, uintptr_t *words, void *below); /* wrappers.c */

#endif
