/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second of two OpenCL devices is idle for each cause that there is; prints for how long, in ns, by the times of
 * its own events, and how long the calls took in which the host gave commands. build: -O2 -g -lOpenCL
 *
 * With an argument it gives an unordered queue barriers, and prints how long its commands that could begin did not.
 *
 * Ends with 77 where there are no two devices.
 */
#include "opencl_help.h"

#include <unistd.h>

static uint64_t host_now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct times {
    cl_ulong queued, start, end;
};

/* How long the calls took that enqueued: what happened meanwhile the host knows no better. */
static uint64_t called_at, uncertain;

static void before_call(void)
{
    called_at = host_now(CLOCK_MONOTONIC);
}

static void after_call(void)
{
    uncertain += host_now(CLOCK_MONOTONIC) - called_at;
}

static struct times times_of(cl_event event)
{
    struct times t;

    must(clWaitForEvents(1, &event), "wait");
    must(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED, sizeof t.queued, &t.queued, NULL), "queued");
    must(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof t.start, &t.start, NULL), "start");
    must(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof t.end, &t.end, NULL), "end");
    return t;
}

static cl_event launch_noting(cl_command_queue queue, cl_mem buffer, int rounds, size_t count, const cl_event *wait)
{
    cl_event event;

    before_call();
    event = launch(queue, buffer, rounds, count, wait != NULL, wait);
    after_call();
    return event;
}

static cl_command_queue make_queue_of(cl_device_id of)
{
    cl_command_queue queue;
    cl_mem buffer = make_buffer();

    device = of;
    queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
    clReleaseEvent(launch(queue, buffer, 10, 64, 0, NULL)); /* code is generated at the first launch */
    must(clFinish(queue), "finish");
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    return make_queue(CL_QUEUE_PROFILING_ENABLE);
}

/* Some 20 ms on all threads that the two devices share. */
static cl_event keep_busy(cl_command_queue other, cl_mem far)
{
    cl_event event = launch(other, far, 1500, BYTES / 4, 0, NULL);

    must(clFlush(other), "flush");
    return event;
}

enum { FIRST, LATE, GATED, BEHIND, COPIED, LAST, GAPS, GAP_US = 20000 };

/* By the times of the events, which are exact. */
static void say_gaps(cl_event event[GAPS], cl_event far, uint64_t opened)
{
    uint64_t nothing = 0, launched = 0, let = times_of(far).end;
    struct times t[GAPS];

    for (int i = 0; i < GAPS; i++) {
        t[i] = times_of(event[i]);
        nothing += i ? t[i].queued - t[i - 1].end : 0;
        if (i == BEHIND && let < t[i].queued) /* it had ended before */
            let = t[i].queued;
        launched += i == COPIED ? 0 : t[i].start - (i == GATED ? opened : i == BEHIND ? let : t[i].queued);
    }
    printf("nothing %lu event %lu user_event %lu copy %lu launch %lu uncertain %lu\n", nothing, let - t[BEHIND].queued,
           opened - t[GATED].queued, t[COPIED].start - t[COPIED].queued, launched, uncertain);
}

/* The second of two devices is idle for each cause there is; both clocks are CLOCK_MONOTONIC_RAW. */
static __attribute__((noinline)) void leave_gaps(cl_command_queue other, cl_command_queue queue)
{
    static char data[BYTES];
    cl_mem buffer = make_buffer(), far = make_buffer();
    cl_event gate, busy[3], event[GAPS];
    uint64_t opened;
    cl_int status;

    event[FIRST] = launch_noting(queue, buffer, 100, 64, NULL);
    must(clFinish(queue), "finish");
    usleep(GAP_US);
    event[LATE] = launch_noting(queue, buffer, 100, 64, NULL);
    must(clFinish(queue), "finish");
    gate = clCreateUserEvent(context, &status);
    must(status, "user event");
    event[GATED] = launch_noting(queue, buffer, 100, 64, &gate);
    must(clFlush(queue), "flush");
    usleep(GAP_US);
    opened = host_now(CLOCK_MONOTONIC_RAW);
    must(clSetUserEventStatus(gate, CL_COMPLETE), "gate");
    uncertain += host_now(CLOCK_MONOTONIC_RAW) - opened;
    must(clFinish(queue), "finish");
    busy[0] = keep_busy(other, far);
    event[BEHIND] = launch_noting(queue, buffer, 100, 64, &busy[0]);
    must(clFinish(queue), "finish");
    busy[1] = keep_busy(other, far);
    before_call();
    must(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, BYTES, data, 0, NULL, &event[COPIED]), "write");
    after_call();
    must(clFinish(queue), "finish");
    busy[2] = keep_busy(other, far);
    event[LAST] = launch_noting(queue, buffer, 100, 64, NULL);
    must(clFinish(queue), "finish");
    must(clFinish(other), "finish");
    say_gaps(event, busy[0], opened);
    for (int i = 0; i < GAPS; i++)
        clReleaseEvent(event[i]);
    for (int i = 0; i < 3; i++)
        clReleaseEvent(busy[i]);
    clReleaseEvent(gate);
    clReleaseMemObject(buffer);
    clReleaseMemObject(far);
}

static cl_ulong latest(cl_ulong a, cl_ulong b)
{
    return a > b ? a : b;
}

/* What stands behind a barrier could not begin before that has ended, and a barrier waits for all before it. */
static __attribute__((noinline)) void give_barriers(void)
{
    enum { LONG, FENCE, SHORT, AGAIN, BEHIND_ALL, GIVEN };
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_mem buffer[GIVEN];
    cl_event event[GIVEN];
    struct times t[GIVEN];
    cl_ulong all = 0, waited = 0;

    for (int i = 0; i < GIVEN; i++)
        buffer[i] = make_buffer();
    event[LONG] = launch_noting(queue, buffer[LONG], 1500, BYTES / 4, NULL);
    before_call();
    must(clEnqueueBarrierWithWaitList(queue, 0, NULL, &event[FENCE]), "barrier");
    after_call();
    event[SHORT] = launch_noting(queue, buffer[SHORT], 100, 64, NULL);
    event[AGAIN] = launch_noting(queue, buffer[AGAIN], 1500, BYTES / 4, NULL);
    before_call();
    must(clEnqueueBarrier(queue), "barrier");
    after_call();
    event[BEHIND_ALL] = launch_noting(queue, buffer[BEHIND_ALL], 100, 64, NULL);
    must(clFinish(queue), "finish");
    for (int i = 0; i < GIVEN; i++) {
        cl_ulong from = i == LONG ? 0 : i == FENCE || i == BEHIND_ALL ? all : t[FENCE].end;

        t[i] = times_of(event[i]);
        waited += t[i].start - latest(t[i].queued, from);
        all = latest(all, t[i].end);
        clReleaseEvent(event[i]);
        clReleaseMemObject(buffer[i]);
    }
    printf("latency %lu long %lu uncertain %lu\n", waited / GIVEN, t[LONG].end - t[LONG].start, uncertain);
    clReleaseCommandQueue(queue);
}

int main(int argc, char **argv)
{
    cl_platform_id platform;
    cl_device_id two[2];
    cl_command_queue other, queue;
    cl_int status;
    cl_uint count = 0;

    (void)argv;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, two, &count) != CL_SUCCESS || count < 2)
        return 77;
    context = clCreateContext(NULL, 2, two, NULL, NULL, &status);
    must(status, "context");
    program = clCreateProgramWithSource(context, 1, (const char *[]){source}, NULL, &status);
    must(status, "program");
    must(clBuildProgram(program, 2, two, "", NULL, NULL), "build");
    other = make_queue_of(two[0]);
    queue = make_queue_of(two[1]);
    if (argc > 1)
        give_barriers();
    else
        leave_gaps(other, queue);
    clReleaseCommandQueue(other);
    clReleaseCommandQueue(queue);
    clReleaseProgram(program);
    clReleaseContext(context);
    return 0;
}
