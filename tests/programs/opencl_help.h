/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs of OpenCL in known amounts share: a device, and sums of the times that their own events tell. */
#ifndef HQ_TESTS_PROGRAMS_OPENCL_HELP_H
#define HQ_TESTS_PROGRAMS_OPENCL_HELP_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 1 << 16 };

static cl_device_id device;
static cl_context context;
static cl_program program;
static _Atomic unsigned long all_ns, kernel_ns, copy_ns, commands, bytes, items;

static inline void must(cl_int status, const char *what)
{
    if (status == CL_SUCCESS)
        return;
    printf("failed: %s: %d\n", what, status);
    exit(1);
}

static const char source[] = "kernel void work(global float *x, int n) { float y = x[get_global_id(0)];"
                             " for (int i = 0; i < n; i++) y = y * 0.999f + 0.5f; x[get_global_id(0)] = y; }"
                             "kernel void axpy(float a, global float *x, global float *y)"
                             " { y[get_global_id(0)] += a * x[get_global_id(0)]; }"
                             "kernel void empty(void) {}";

static inline cl_program build(const char *text, const char *how)
{
    cl_int status;
    cl_program made = clCreateProgramWithSource(context, 1, &text, NULL, &status);

    must(status, "program");
    must(clBuildProgram(made, 1, &device, how, NULL, NULL), "build");
    return made;
}

static inline void open_device(void)
{
    cl_platform_id platform;
    cl_uint count = 0;
    cl_int status;

    if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || !count ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        exit(77);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    must(status, "context");
    program = build(source, "");
}

static cl_command_queue make_queue(cl_command_queue_properties properties)
{
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
    cl_int status;
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, properties ? list : NULL, &status);

    must(status, "queue");
    return queue;
}

static inline cl_mem make_buffer(void)
{
    cl_int status;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &status);

    must(status, "buffer");
    return buffer;
}

/* Adds a command to the sums when it has ended: kind 'k', 'c', or another. */
static inline void add(cl_event event, char kind, size_t moved, size_t worked)
{
    cl_ulong start, end;

    must(clWaitForEvents(1, &event), "wait");
    must(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL), "start");
    must(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "end");
    clReleaseEvent(event);
    all_ns += end - start;
    kernel_ns += kind == 'k' ? end - start : 0;
    copy_ns += kind == 'c' ? end - start : 0;
    commands++;
    bytes += moved;
    items += worked;
}

static inline cl_kernel make_kernel(cl_program of, const char *name)
{
    cl_int status;
    cl_kernel kernel = clCreateKernel(of, name, &status);

    must(status, name);
    return kernel;
}

/* `work` on the first `count` numbers of a buffer. */
static inline cl_event launch(cl_command_queue queue, cl_mem buffer, int rounds, size_t count, cl_uint waits,
                              const cl_event *list)
{
    cl_kernel kernel = make_kernel(program, "work");
    cl_event event;

    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clSetKernelArg(kernel, 1, sizeof rounds, &rounds);
    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, waits, list, &event), "launch");
    clReleaseKernel(kernel);
    return event;
}

static inline void say_times(const char *who)
{
    printf("%s time %lu kernel %lu copy %lu commands %lu bytes %lu items %lu\n", who, all_ns, kernel_ns, copy_ns,
           commands, bytes, items);
}

#endif
