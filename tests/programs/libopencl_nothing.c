/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In place of libOpenCL.so.1: devices that have ended each command before it is given, and call back at once. What
 * opencl_known's `plain` and `empty` take with one is what those take themselves, and what is measured. There are two
 * platforms with a device each; its queues have the same handle.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <string.h>
#include <time.h>

enum { PLATFORMS = 2 };
static char things[PLATFORMS][16]; /* what handles are: those of a platform, its device and its queues */
#define HANDLE ((void *)things)
#define NOTHING(name, ...) \
    cl_int name(__VA_ARGS__) \
    { \
        return CL_SUCCESS; \
    }
#define MAKES(type, name, ...) \
    type name(__VA_ARGS__, cl_int *status) \
    { \
        if (status) \
            *status = CL_SUCCESS; \
        return HANDLE; \
    }

static cl_ulong times[4];

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
    for (cl_uint i = 0; i < room && i < PLATFORMS; i++)
        platforms[i] = (void *)things[i];
    if (count)
        *count = PLATFORMS;
    return CL_SUCCESS;
}

cl_int clGetDeviceIDs(cl_platform_id of, cl_device_type type, cl_uint room, cl_device_id *devices, cl_uint *count)
{
    (void)type;
    if (room)
        *devices = (void *)of;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

MAKES(cl_context, clCreateContext, const cl_context_properties *p, cl_uint n, const cl_device_id *d,
      void(CL_CALLBACK *f)(const char *, const void *, size_t, void *), void *u)
MAKES(cl_program, clCreateProgramWithSource, cl_context c, cl_uint n, const char **t, const size_t *l)
MAKES(cl_kernel, clCreateKernel, cl_program p, const char *name)

cl_command_queue clCreateCommandQueueWithProperties(cl_context c, cl_device_id d, const cl_queue_properties *p,
                                                    cl_int *status)
{
    (void)c, (void)p;
    if (status)
        *status = CL_SUCCESS;
    return (void *)d;
}

NOTHING(clBuildProgram, cl_program p, cl_uint n, const cl_device_id *d, const char *o,
        void(CL_CALLBACK *f)(cl_program, void *), void *u)
NOTHING(clReleaseContext, cl_context c)
NOTHING(clReleaseProgram, cl_program p)
NOTHING(clReleaseCommandQueue, cl_command_queue q)
NOTHING(clReleaseKernel, cl_kernel k)
NOTHING(clReleaseEvent, cl_event e)
NOTHING(clFinish, cl_command_queue q)

/* Properties are numbers or handles, but for texts, of which there is none. */
static cl_int give(cl_ulong number, size_t size, void *value)
{
    if (!value || size > sizeof number)
        return CL_INVALID_VALUE;
    memcpy(value, &number, size);
    return CL_SUCCESS;
}

cl_int clGetCommandQueueInfo(cl_command_queue q, cl_command_queue_info what, size_t size, void *value, size_t *needed)
{
    (void)needed;
    return give(what == CL_QUEUE_PROPERTIES        ? CL_QUEUE_PROFILING_ENABLE
                : what == CL_QUEUE_REFERENCE_COUNT ? 1
                                                   : (cl_ulong)q,
                size, value);
}

cl_int clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t size, void *value, size_t *needed)
{
    (void)needed;
    return give(what == CL_DEVICE_PLATFORM ? (cl_ulong)d : 0, size, value);
}

cl_int clGetKernelInfo(cl_kernel k, cl_kernel_info what, size_t size, void *value, size_t *needed)
{
    (void)k, (void)needed;
    if (what == CL_KERNEL_FUNCTION_NAME && size >= sizeof "empty") {
        memcpy(value, "empty", sizeof "empty");
        return CL_SUCCESS;
    }
    return give((cl_ulong)HANDLE, size, value);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dimensions, const size_t *offset,
                              const size_t *range, const size_t *local, cl_uint waits, const cl_event *list,
                              cl_event *event)
{
    struct timespec t;

    (void)q, (void)k, (void)dimensions, (void)offset, (void)range, (void)local, (void)waits, (void)list;
    clock_gettime(CLOCK_MONOTONIC, &t);
    for (int i = 0; i < 4; i++)
        times[i] = (cl_ulong)t.tv_sec * 1000000000 + (cl_ulong)t.tv_nsec;
    if (event)
        *event = HANDLE;
    return CL_SUCCESS;
}

cl_int clSetEventCallback(cl_event event, cl_int type, void(CL_CALLBACK *tell)(cl_event, cl_int, void *), void *data)
{
    (void)type;
    tell(event, CL_COMPLETE, data);
    return CL_SUCCESS;
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value, size_t *needed)
{
    (void)event, (void)needed;
    return give(times[what - CL_PROFILING_COMMAND_QUEUED], size, value);
}
