/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of OpenCL of every kind, in ways that programs rarely use. build: -O2 -g -lOpenCL
 *
 *     opencl_every WAY...      prints what opencl_known's `times` does, once, of all ways together
 *
 * Of a command without an event, or whose queue tells no times, only the number is known: `bare` of them. Ends with 77
 * where there is no device.
 */
#include "opencl_help.h"

#include <pthread.h>
#include <unistd.h>

static unsigned long bare, failed;
static char data[BYTES];

static void images(void)
{
    static const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 64, .image_height = 32};
    const size_t origin[3] = {0}, region[3] = {16, 8, 1};
    const cl_uint colour[4] = {1, 2, 3, 4};
    enum { PIXELS = 16 * 8 * 4 };
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
    cl_mem buffer = make_buffer(), image, other;
    size_t pitch = 0;
    cl_event event;
    cl_int status;
    void *mapped;

    image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &status);
    must(status, "image");
    other = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &status);
    must(status, "image");
    must(clEnqueueWriteImage(queue, image, CL_TRUE, origin, region, 0, 0, data, 0, NULL, &event), "write image");
    add(event, 'c', PIXELS, 0);
    must(clEnqueueFillImage(queue, image, colour, origin, region, 0, NULL, &event), "fill image");
    add(event, 'c', PIXELS, 0);
    must(clEnqueueCopyImage(queue, image, other, origin, origin, region, 0, NULL, &event), "copy image");
    add(event, 'c', PIXELS, 0);
    must(clEnqueueCopyImageToBuffer(queue, other, buffer, origin, region, 0, 0, NULL, &event), "image to buffer");
    add(event, 'c', PIXELS, 0);
    must(clEnqueueCopyBufferToImage(queue, buffer, image, 0, origin, region, 0, NULL, &event), "buffer to image");
    add(event, 'c', PIXELS, 0);
    mapped = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, origin, region, &pitch, NULL, 0, NULL, &event,
                               &status);
    must(status, "map image");
    add(event, 'c', PIXELS, 0);
    must(clEnqueueUnmapMemObject(queue, image, mapped, 0, NULL, &event), "unmap");
    add(event, 'c', 0, 0);
    must(clEnqueueReadImage(queue, other, CL_FALSE, origin, region, 0, 0, data, 0, NULL, &event), "read image");
    add(event, 'c', PIXELS, 0);
    clReleaseMemObject(buffer);
    clReleaseMemObject(image);
    clReleaseMemObject(other);
    clReleaseCommandQueue(queue);
}

static void rectangles(void)
{
    const size_t origin[3] = {0}, region[3] = {64, 4, 2};
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
    cl_mem buffer = make_buffer(), other = make_buffer();
    cl_event event;

    must(clEnqueueWriteBufferRect(queue, buffer, CL_FALSE, origin, origin, region, 64, 256, 64, 256, data, 0, NULL,
                                  &event),
         "write");
    add(event, 'c', 512, 0);
    must(clEnqueueCopyBufferRect(queue, buffer, other, origin, origin, region, 64, 256, 64, 256, 0, NULL, &event),
         "copy");
    add(event, 'c', 512, 0);
    clReleaseMemObject(buffer);
    clReleaseMemObject(other);
    clReleaseCommandQueue(queue);
}

static void shared_memory(void)
{
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
    char *one = clSVMAlloc(context, CL_MEM_READ_WRITE, BYTES, 0),
         *two = clSVMAlloc(context, CL_MEM_READ_WRITE, BYTES, 0);
    const void *list[] = {one};
    void *ended[] = {one, two};
    const int pattern = 7;
    cl_event event;

    if (one && two) {
        must(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, one, 4096, 0, NULL, &event), "map");
        add(event, 'c', 4096, 0);
        must(clEnqueueSVMUnmap(queue, one, 0, NULL, &event), "unmap");
        add(event, 'c', 0, 0);
        must(clEnqueueSVMMemFill(queue, one, &pattern, sizeof pattern, 2048, 0, NULL, &event), "fill");
        add(event, 'c', 2048, 0);
        must(clEnqueueSVMMemcpy(queue, CL_FALSE, two, one, 1024, 0, NULL, &event), "copy");
        add(event, 'c', 1024, 0);
        if (clEnqueueSVMMigrateMem(queue, 1, list, NULL, 0, 0, NULL, &event) == CL_SUCCESS)
            add(event, 'c', 0, 0);
        must(clEnqueueSVMFree(queue, 2, ended, NULL, NULL, 0, NULL, &event), "free");
        add(event, 'o', 0, 0);
    }
    clReleaseCommandQueue(queue);
}

static void CL_CALLBACK native_work(void *what)
{
    volatile int *rounds = what;

    while (*rounds > 0)
        --*rounds;
}

/* Of the host, of one work-item, and those of OpenCL 1.0 that give no event. */
static void old_ones(void)
{
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
    cl_kernel kernel = make_kernel(program, "empty");
    int rounds = 100000;
    cl_event event;

    must(clEnqueueNativeKernel(queue, native_work, &rounds, sizeof rounds, 0, NULL, NULL, 0, NULL, &event), "native");
    add(event, 'k', 0, 0);
    must(clEnqueueTask(queue, kernel, 0, NULL, &event), "task");
    add(event, 'k', 0, 1);
    must(clEnqueueMarker(queue, &event), "marker");
    add(event, 'o', 0, 0);
    must(clEnqueueBarrier(queue), "barrier");
    bare++;
    must(clFinish(queue), "finish");
    clReleaseKernel(kernel);
    clReleaseCommandQueue(queue);
}

/* Commands whose order only their events say. */
static void unordered(void)
{
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_mem one = make_buffer(), two = make_buffer();
    cl_event first, second, third, join;

    first = launch(queue, one, 4000, 512, 0, NULL);
    second = launch(queue, two, 2000, 512, 0, NULL);
    third = launch(queue, two, 1000, 512, 1, &second);
    must(clEnqueueMarkerWithWaitList(queue, 2, (cl_event[]){first, third}, &join), "marker");
    must(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL), "barrier");
    bare++;
    must(clFlush(queue), "flush");
    add(join, 'o', 0, 0);
    add(third, 'k', 0, 512);
    add(second, 'k', 0, 512);
    add(first, 'k', 0, 512);
    must(clFinish(queue), "finish");
    clReleaseMemObject(one);
    clReleaseMemObject(two);
    clReleaseCommandQueue(queue);
}

/* A queue for each part of the device, in a context of theirs. */
static void parts(void)
{
    const cl_device_partition_property how[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_context whole = context;
    cl_device_id all[2];
    cl_uint count = 0;
    cl_int status;

    if (clCreateSubDevices(device, how, 2, all, &count) != CL_SUCCESS || !count)
        return;
    count = count > 2 ? 2 : count;
    context = clCreateContext(NULL, count, all, NULL, NULL, &status);
    must(status, "context of parts");
    for (cl_uint i = 0; i < count; i++) {
        cl_command_queue queue = clCreateCommandQueue(context, all[i], CL_QUEUE_PROFILING_ENABLE, &status);
        cl_mem buffer = make_buffer();
        cl_event event;

        must(status, "queue of a part");
        must(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 4096, data, 0, NULL, &event), "write");
        add(event, 'c', 4096, 0);
        clReleaseMemObject(buffer);
        clReleaseCommandQueue(queue);
    }
    clReleaseContext(context);
    for (cl_uint i = 0; i < count; i++)
        clReleaseDevice(all[i]);
    context = whole;
}

static void *in_a_context(void *of)
{
    cl_command_queue queue = of;
    cl_mem buffer;
    cl_event event;
    cl_context mine = NULL;

    must(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof mine, &mine, NULL), "context of a queue");
    buffer = clCreateBuffer(mine, CL_MEM_READ_WRITE, BYTES, NULL, NULL);
    for (int i = 0; i < 20; i++) {
        must(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, 1024, data, 0, NULL, &event), "write");
        add(event, 'c', 1024, 0);
    }
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    return NULL;
}

/* Three contexts, two threads for each with a queue of their own, one of which is shared with the first thread. */
static void contexts(void)
{
    cl_context all[3];
    pthread_t threads[6];
    cl_int status;

    for (int i = 0; i < 6; i++) {
        if (i < 3)
            all[i] = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
        cl_command_queue queue = clCreateCommandQueue(all[i % 3], device, CL_QUEUE_PROFILING_ENABLE, &status);

        must(status, "queue");
        pthread_create(&threads[i], NULL, in_a_context, queue);
    }
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++)
        clReleaseContext(all[i]);
}

/* Two kernels of one name, in two programs, and a second program of the same text as the first. */
static void programs(void)
{
    static const char other[] = "kernel void empty(void) {}\n"
                                "kernel void axpy(float a, global float *x, global float *y)\n"
                                "{\n"
                                "    for (int i = 0; i < 200; i++)\n"
                                "        y[get_global_id(0)] = y[get_global_id(0)] * a + x[get_global_id(0)];\n"
                                "}\n";
    cl_program all[] = {program, build(other, ""), build(other, "-DTWICE")};
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
    cl_mem one = make_buffer(), two = make_buffer();
    const float a = 0.5f;
    size_t count = 256;

    for (int i = 0; i < 3; i++)
        for (int n = 0; n <= i; n++) {
            cl_kernel kernel = make_kernel(all[i], "axpy");
            cl_event event;

            clSetKernelArg(kernel, 0, sizeof a, &a);
            clSetKernelArg(kernel, 1, sizeof one, &one);
            clSetKernelArg(kernel, 2, sizeof two, &two);
            must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, &event), "axpy");
            add(event, 'k', 0, count);
            clReleaseKernel(kernel);
        }
    clReleaseProgram(all[1]);
    clReleaseProgram(all[2]);
    clReleaseMemObject(one);
    clReleaseMemObject(two);
    clReleaseCommandQueue(queue);
}

/* What waits for something that fails fails too; what is refused is no command. */
static void failing(void)
{
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_mem buffer = make_buffer();
    cl_int status;
    cl_event gate = clCreateUserEvent(context, &status), event[2];

    must(status, "user event");
    event[0] = launch(queue, buffer, 10, 64, 1, &gate);
    event[1] = launch(queue, buffer, 10, 64, 1, &event[0]);
    clFlush(queue);
    must(clSetUserEventStatus(gate, -5), "gate");
    for (int i = 0; i < 2; i++) {
        clWaitForEvents(1, &event[i]);
        must(clGetEventInfo(event[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL), "status");
        failed += status < 0;
        clReleaseEvent(event[i]);
    }
    if (clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 2 * BYTES, data, 0, NULL, NULL) == CL_SUCCESS ||
        clEnqueueMarkerWithWaitList(queue, 1, NULL, NULL) == CL_SUCCESS)
        printf("what is wrong is not refused\n");
    clReleaseEvent(gate);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
}

/* Since version 0.9.5 of the extension every command takes properties. Which one the device has may differ from that of
 * the headers, so both kinds are declared here. */
typedef cl_int CL_API_CALL copy_command(cl_command_buffer_khr, cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t,
                                        cl_uint, const cl_sync_point_khr *, cl_sync_point_khr *,
                                        cl_mutable_command_khr *);
typedef cl_int CL_API_CALL copy_command_with(cl_command_buffer_khr, cl_command_queue, const void *, cl_mem, cl_mem,
                                             size_t, size_t, size_t, cl_uint, const cl_sync_point_khr *,
                                             cl_sync_point_khr *, cl_mutable_command_khr *);

/* The version that the device has of an extension, 0: none. */
static cl_version version_of(const char *extension)
{
    cl_name_version known[512];
    size_t bytes = 0;

    if (clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof known, known, &bytes))
        return 0;
    for (size_t i = 0; i < bytes / sizeof *known; i++)
        if (!strcmp(known[i].name, extension))
            return known[i].version;
    return 0;
}

/* A recorded list of commands, which is given to the device as one. */
static void command_buffer(void)
{
    clCreateCommandBufferKHR_fn create;
    void *copy;
    clFinalizeCommandBufferKHR_fn finalize;
    clEnqueueCommandBufferKHR_fn enqueue;
    clReleaseCommandBufferKHR_fn release;
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
    cl_mem one = make_buffer(), two = make_buffer();
    cl_platform_id platform;
    cl_command_buffer_khr list;
    cl_event event;
    cl_int status;

#define FIND(f, name) (f = (__typeof__(f))clGetExtensionFunctionAddressForPlatform(platform, name))
    must(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL), "platform");
    if (FIND(create, "clCreateCommandBufferKHR") && FIND(copy, "clCommandCopyBufferKHR") &&
        FIND(finalize, "clFinalizeCommandBufferKHR") && FIND(enqueue, "clEnqueueCommandBufferKHR") &&
        FIND(release, "clReleaseCommandBufferKHR")) {
        list = create(1, &queue, NULL, &status);
        must(status, "command buffer");
        if (version_of("cl_khr_command_buffer") >= CL_MAKE_VERSION(0, 9, 5))
            status = ((copy_command_with *)copy)(list, NULL, NULL, one, two, 0, 0, 4096, 0, NULL, NULL, NULL);
        else
            status = ((copy_command *)copy)(list, NULL, one, two, 0, 0, 4096, 0, NULL, NULL, NULL);
        must(status, "copy");
        must(finalize(list), "finalize");
        for (int i = 0; i < 2; i++) {
            must(enqueue((cl_uint)i, i ? &queue : NULL, list, 0, NULL, &event), "enqueue");
            add(event, 'o', 0, 0);
        }
        release(list);
    }
    clReleaseMemObject(one);
    clReleaseMemObject(two);
    clReleaseCommandQueue(queue);
}

/* Queues that nobody has asked to tell times, commands whose event nobody wants. */
static void unasked(void)
{
    cl_command_queue queue = make_queue(0);
    cl_mem buffer = make_buffer();

    for (int i = 0; i < 10; i++)
        must(clEnqueueWriteBuffer(queue, buffer, i % 2, 0, 1024, data, 0, NULL, NULL), "write");
    bare += 10;
    must(clFinish(queue), "finish");
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
}

/* An event released once too often, which no program may do. */
static void twice(void)
{
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
    cl_mem buffer = make_buffer();
    cl_event event = launch(queue, buffer, 100, 64, 0, NULL);

    must(clWaitForEvents(1, &event), "wait");
    clReleaseEvent(event);
    fflush(stdout);
    clReleaseEvent(event);
    for (int i = 0; i < 100; i++) {
        event = launch(queue, buffer, 100, 64, 0, NULL);
        add(event, 'k', 0, 64);
    }
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
}

/* A function of an extension that has amounts, and no place in the loader's table. */
static void pipes(void)
{
    cl_int(CL_API_CALL * read)(cl_command_queue, cl_program, const char *, cl_bool, void *, size_t, cl_uint,
                               const cl_event *, cl_event *);
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
    cl_platform_id platform;
    char data[100];

    must(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL), "platform");
    read = (__typeof__(read))clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueReadHostPipeINTEL");
    for (int i = 0; read && i < 3; i++)
        must(read(queue, program, "pipe", CL_TRUE, data, sizeof data, 0, NULL, NULL), "pipe");
    must(clFinish(queue), "finish");
    clReleaseCommandQueue(queue);
}

int main(int count, char **words)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
        {"images", images},       {"rectangles", rectangles}, {"svm", shared_memory}, {"old", old_ones},
        {"unordered", unordered}, {"parts", parts},           {"contexts", contexts}, {"programs", programs},
        {"failing", failing},     {"buffer", command_buffer}, {"unasked", unasked},   {"twice", twice},
        {"pipes", pipes},
    };

    open_device();
    for (int i = 1; i < count; i++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
            if (!strcmp(words[i], ways[w].name))
                ways[w].run();
    printf("bare %lu\nfailed %lu\n", bare, failed);
    say_times("every");
    clReleaseProgram(program);
    clReleaseContext(context);
    return 0;
}
