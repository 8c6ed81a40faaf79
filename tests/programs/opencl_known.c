/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of OpenCL in known amounts, and their times by the program's own events. build: -O2 -g -lOpenCL
 *
 *     opencl_known times WAY   all commands have events; prints time, kernel, copy (ns), commands, bytes, items
 *     opencl_known shown       what the program can see of its queues and events, with and without hq
 *     opencl_known empty N     N empty kernels, with profiling, an event and a callback that reads the times
 *     opencl_known plain N     the same without any of that; both print the elapsed ns of all
 *     opencl_known platforms   N empty kernels for the first device of the Nth of two platforms
 *
 * Ends with 77 where there is no device.
 */
#include "opencl_help.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static __attribute__((noinline)) void copy_in(cl_command_queue queue, cl_mem to, const void *data)
{
    cl_event event;

    must(clEnqueueWriteBuffer(queue, to, CL_FALSE, 0, BYTES, data, 0, NULL, &event), "write");
    add(event, 'c', BYTES, 0);
}

static __attribute__((noinline)) void copy_out(cl_command_queue queue, cl_mem from, void *data)
{
    cl_event event;

    must(clEnqueueReadBuffer(queue, from, CL_TRUE, 0, BYTES / 2, data, 0, NULL, &event), "read");
    add(event, 'c', BYTES / 2, 0);
}

static __attribute__((noinline)) void work(cl_command_queue queue, cl_mem buffer, int rounds)
{
    add(launch(queue, buffer, rounds, BYTES / 4, 0, NULL), 'k', 0, BYTES / 4);
}

static __attribute__((noinline)) void solve(cl_command_queue queue, cl_mem buffer)
{
    work(queue, buffer, 2000);
    work(queue, buffer, 4000);
    work(queue, buffer, 8000);
}

/* Each kind of command once or more. */
static void all_kinds(void)
{
    static char data[BYTES];
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
    cl_mem buffer = make_buffer(), other = make_buffer();
    size_t origin[3] = {0}, region[3] = {64, 4, 2};
    const float zero = 0, a = 2;
    size_t count = 1024;
    cl_event event;
    cl_kernel axpy;
    cl_int status;
    void *mapped;

    copy_in(queue, buffer, data);
    solve(queue, buffer);
    must(clEnqueueCopyBuffer(queue, buffer, other, 0, 0, 4096, 0, NULL, &event), "copy");
    add(event, 'c', 4096, 0);
    must(clEnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, 8192, 0, NULL, &event), "fill");
    add(event, 'c', 8192, 0);
    must(clEnqueueReadBufferRect(queue, buffer, CL_TRUE, origin, origin, region, 64, 256, 64, 256, data, 0, NULL,
                                 &event),
         "rectangle");
    add(event, 'c', 64 * 4 * 2, 0);
    mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 1024, 0, NULL, &event, &status);
    must(status, "map");
    add(event, 'c', 1024, 0);
    must(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, &event), "unmap");
    add(event, 'c', 0, 0);
    must(clEnqueueMigrateMemObjects(queue, 1, &buffer, 0, 0, NULL, &event), "migrate");
    add(event, 'c', 0, 0);
    axpy = clCreateKernel(program, "axpy", &status);
    must(status, "axpy");
    clSetKernelArg(axpy, 0, sizeof a, &a);
    clSetKernelArg(axpy, 1, sizeof buffer, &buffer);
    clSetKernelArg(axpy, 2, sizeof other, &other);
    must(clEnqueueNDRangeKernel(queue, axpy, 1, NULL, &count, NULL, 0, NULL, &event), "launch");
    add(event, 'k', 0, count);
    must(clEnqueueMarkerWithWaitList(queue, 0, NULL, &event), "marker");
    add(event, 'o', 0, 0);
    must(clEnqueueBarrierWithWaitList(queue, 0, NULL, &event), "barrier");
    add(event, 'o', 0, 0);
    copy_out(queue, buffer, data);
    must(clFinish(queue), "finish");
    clReleaseKernel(axpy);
    clReleaseMemObject(buffer);
    clReleaseMemObject(other);
    clReleaseCommandQueue(queue);
}

static void *one_thread(void *unused)
{
    static char data[BYTES];
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
    cl_mem buffer = make_buffer();

    (void)unused;
    copy_in(queue, buffer, data);
    for (int i = 0; i < 50; i++)
        work(queue, buffer, 100);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    return NULL;
}

static void many_threads(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, one_thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* More commands than a small measurement file can keep one by one. */
static void many(void)
{
    static char data[1024];
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
    cl_mem buffer = make_buffer();
    cl_event event;

    for (int i = 0; i < 2000; i++) {
        work(queue, buffer, 10);
        must(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof data, data, 0, NULL, &event), "write");
        add(event, 'c', sizeof data, 0);
    }
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
}

/* A process with a device under way makes another, which becomes another program. */
static __attribute__((noinline)) void other_program(const char *itself)
{
    int status = 0;
    pid_t child;

    all_kinds();
    child = fork();
    if (!child) {
        execl(itself, itself, "times", "kinds", NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    must(status, "the other program");
    all_kinds();
}

/* Two queues whose kernels are under way together; one begins when the program allows it. */
static void two_queues(void)
{
    cl_command_queue left = make_queue(CL_QUEUE_PROFILING_ENABLE), right = make_queue(CL_QUEUE_PROFILING_ENABLE);
    cl_mem one = make_buffer(), two = make_buffer();
    cl_event gate, first, second, third;
    cl_int status;

    gate = clCreateUserEvent(context, &status);
    must(status, "user event");
    first = launch(left, one, 20000, 512, 0, NULL);
    second = launch(right, two, 20000, 512, 1, &gate);
    third = launch(left, one, 1000, 512, 1, &second);
    clFlush(left);
    clFlush(right);
    usleep(20000);
    must(clSetUserEventStatus(gate, CL_COMPLETE), "gate");
    clRetainEvent(second);
    add(third, 'k', 0, 512);
    add(first, 'k', 0, 512);
    add(second, 'k', 0, 512);
    clReleaseEvent(second);
    clReleaseEvent(gate);
    clReleaseMemObject(one);
    clReleaseMemObject(two);
    clReleaseCommandQueue(left);
    clReleaseCommandQueue(right);
}

/* ---- what the program can see ---- */

static void show_queue(const char *name, cl_command_queue queue)
{
    cl_command_queue_properties properties = 0;
    cl_queue_properties list[16] = {0};
    cl_uint references = 0, of_context = 0;
    size_t size = 0, needed = 0;

    clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, 0, NULL, &needed);
    clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof list, list, &size);
    clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof references, &references, NULL);
    clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof of_context, &of_context, NULL);
    printf("%s: properties %lu, %zu %zu bytes:", name, (unsigned long)properties, needed, size);
    for (size_t i = 0; i < size / sizeof *list; i++)
        printf(" %lu", (unsigned long)list[i]);
    printf("; %u references, context %u; a value too small %d\n", references, of_context,
           clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, 1, list, NULL));
}

/* When clFinish has returned the driver may still be calling back, and hold the event once more than the queue does
 * whose last it is: waits until it does not, for some seconds. */
static void show_event(const char *name, cl_event event)
{
    time_t until = time(NULL) + 20;
    cl_uint references = 0;
    cl_int state = 0;
    cl_ulong time_of = 0;
    cl_int status;

    do
        clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL);
    while (references > 2 && time(NULL) < until);
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    status = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time_of, &time_of, NULL);
    printf("%s: %u references, state %d, profiling %d, a time %d\n", name, references, state, status, time_of != 0);
}

static void show_made(const char *name, const cl_queue_properties *list)
{
    cl_int status;
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, list, &status);
    cl_mem buffer = make_buffer();
    cl_event event = NULL;

    printf("%s: made %d\n", name, status);
    if (!queue)
        return;
    show_queue(name, queue);
    event = launch(queue, buffer, 10, 64, 0, NULL);
    must(clFinish(queue), "finish");
    show_event(name, event);
    clReleaseEvent(event);
    must(clEnqueueMarkerWithWaitList(queue, 0, NULL, NULL), "marker");
    must(clEnqueueBarrier(queue), "barrier");
    must(clFinish(queue), "finish");
    show_queue(name, queue);
    clRetainCommandQueue(queue);
    clReleaseCommandQueue(queue);
    show_queue(name, queue);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
}

static void show_everything(void)
{
    const cl_queue_properties empty[] = {0}, plain[] = {CL_QUEUE_PROPERTIES, 0, 0},
                              timed[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0},
                              free_order[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0},
                              wrong[] = {CL_QUEUE_PROPERTIES, 1ul << 40, 0};
    cl_command_queue old = clCreateCommandQueue(context, device, 0, NULL);

    show_queue("old", old);
    clReleaseCommandQueue(old);
    show_made("none", NULL);
    show_made("empty", empty);
    show_made("plain", plain);
    show_made("timed", timed);
    show_made("free order", free_order);
    show_made("wrong", wrong);
    printf("no queue: %d\n", clEnqueueMarkerWithWaitList(NULL, 0, NULL, NULL));
}

/* ---- cost ---- */

static _Atomic int ended;

static void CL_CALLBACK read_times(cl_event event, cl_int status, void *unused)
{
    cl_ulong time[4];

    (void)status, (void)unused;
    for (cl_uint i = 0; i < 4; i++)
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED + i, sizeof time[i], &time[i], NULL);
    clReleaseEvent(event);
    ended++;
}

static void empty_kernels(int count, int asks)
{
    cl_command_queue queue = make_queue(asks ? CL_QUEUE_PROFILING_ENABLE : 0);
    cl_int status;
    cl_kernel kernel = clCreateKernel(program, "empty", &status);
    size_t one = 1;
    struct timespec from, to;

    for (int part = 0; part < 2; part++) { /* the first to get warm */
        int n = part ? count : 200;

        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int i = 0; i < n; i++) {
            cl_event event;

            must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, asks ? &event : NULL), "launch");
            if (asks)
                clSetEventCallback(event, CL_COMPLETE, read_times, NULL);
            if (i % 64 == 63)
                clFinish(queue);
        }
        clFinish(queue);
        clock_gettime(CLOCK_MONOTONIC, &to);
    }
    printf("%.0f\n", (double)((to.tv_sec - from.tv_sec) * 1000000000l + to.tv_nsec - from.tv_nsec));
    clReleaseKernel(kernel);
    clReleaseCommandQueue(queue);
}

static void two_platforms(void)
{
    cl_platform_id platforms[2];
    cl_uint count = 0;
    size_t one = 1;

    must(clGetPlatformIDs(2, platforms, &count), "platforms");
    for (cl_uint i = 0; i < count && i < 2; i++) {
        must(clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");

        cl_command_queue queue = make_queue(0);
        cl_int status;
        cl_kernel kernel = clCreateKernel(program, "empty", &status);

        for (cl_uint k = 0; k <= i; k++)
            must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL), "launch");
        clFinish(queue);
    }
}

int main(int count, char **words)
{
    const char *way = count > 1 ? words[1] : "", *more = count > 2 ? words[2] : "";

    if (!strcmp(way, "times") && !strcmp(more, "fork")) {
        int status = 0;
        pid_t child = fork();

        open_device();
        all_kinds();
        say_times(child ? "parent" : "child");
        fflush(stdout);
        if (child)
            waitpid(child, &status, 0);
        return status != 0;
    }
    open_device();
    if (!strcmp(way, "times")) {
        if (!strcmp(more, "kinds"))
            all_kinds();
        else if (!strcmp(more, "threads"))
            many_threads();
        else if (!strcmp(more, "queues"))
            two_queues();
        else if (!strcmp(more, "many"))
            many();
        else if (!strcmp(more, "exec"))
            other_program(words[0]);
        say_times(more);
    } else if (!strcmp(way, "shown")) {
        show_everything();
    } else if (!strcmp(way, "empty") || !strcmp(way, "plain")) {
        empty_kernels(atoi(more), *way == 'e');
    } else if (!strcmp(way, "platforms")) {
        two_platforms();
    } else {
        return 2;
    }
    clReleaseProgram(program);
    clReleaseContext(context);
    return 0;
}
