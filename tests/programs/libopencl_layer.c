/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layer between hq and the driver, for tests: what it sees shares nothing with hq. By the environment:
 *
 *     LAYER_COUNTS=FILE    every command that the driver has taken, by its function, "clEnqueueCopyBuffer 3", added to
 *                          the file when the process ends; those of kernels also by kernel, "kernel axpy 3"
 *     LAYER_CLOCK=OFFSET,DRIFT   the device's clock is OFFSET s ahead, and faster by DRIFT of 1
 *     LAYER_TRUTH=FILE     a line for each command whose end was asked for: its start and end as asked, and both on the
 *                          clock of the host (CLOCK_MONOTONIC)
 *     LAYER_NO_CLOCK=1     all times of all commands are 0, but for their ends, which are 1, as of rusticl in Mesa 22
 *     LAYER_TIMER=1        the device's and the host's clock can be asked for together (clGetDeviceAndHostTimer)
 *     LAYER_1_0=1          the platform says that it is of OpenCL 1.0; a callback for an event ends the process
 *     LAYER_PIPE=1         there is clEnqueueReadHostPipeINTEL, which no driver here has; it is a marker
 *     LAYER_FAILS=N        every Nth command fails when it has ended
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_layer.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef uintptr_t word;

static cl_icd_dispatch below, ours;
static double offset_ns, drift;
static atomic_ulong ended;

/* ---- what is counted ---- */

// clang-format off
#define FUNCTIONS(F) \
    F(ReadBuffer) F(WriteBuffer) F(CopyBuffer) F(ReadImage) F(WriteImage) F(CopyImage) F(CopyImageToBuffer) \
    F(CopyBufferToImage) F(MapBuffer) F(MapImage) F(UnmapMemObject) F(NDRangeKernel) F(Task) F(NativeKernel) \
    F(Marker) F(WaitForEvents) F(Barrier) F(ReadBufferRect) F(WriteBufferRect) F(CopyBufferRect) F(FillBuffer) \
    F(FillImage) F(MigrateMemObjects) F(MarkerWithWaitList) F(BarrierWithWaitList) F(SVMFree) F(SVMMemcpy) \
    F(SVMMemFill) F(SVMMap) F(SVMUnmap) F(SVMMigrateMem)
// clang-format on

enum {
#define F(name) NUMBER_##name,
    FUNCTIONS(F)
#undef F
        NUMBERS
};
static const char *const names[] = {
#define F(name) "clEnqueue" #name,
    FUNCTIONS(F)
#undef F
};
static atomic_ulong counts[NUMBERS];

enum { KERNELS = 256 };
static struct {
    char name[128];
    unsigned long count;
} kernels[KERNELS];
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void count_kernel(cl_kernel kernel)
{
    char name[128] = "";

    below.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    while (atomic_flag_test_and_set(&busy))
        continue;
    for (int i = 0; i < KERNELS; i++)
        if (!kernels[i].count || !strcmp(kernels[i].name, name)) {
            snprintf(kernels[i].name, sizeof kernels[i].name, "%s", name);
            kernels[i].count++;
            break;
        }
    atomic_flag_clear(&busy);
}

typedef word any(word, word, word, word, word, word, word, word, word, word, word, word, word, word);

/* All functions take integers and pointers, so one form of call does for all. */
#define F(name) \
    static word counted_##name(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k, \
                               word l, word m, word n) \
    { \
        word result = ((any *)below.clEnqueue##name)(a, b, c, d, e, f, g, h, i, j, k, l, m, n); \
        int maps = NUMBER_##name == NUMBER_MapBuffer || NUMBER_##name == NUMBER_MapImage; \
\
        if (maps ? result != 0 : (cl_int)result == CL_SUCCESS) { \
            counts[NUMBER_##name]++; \
            if (NUMBER_##name == NUMBER_NDRangeKernel || NUMBER_##name == NUMBER_Task) \
                count_kernel((cl_kernel)b); \
        } \
        return result; \
    }
FUNCTIONS(F)
#undef F

static void write_counts(void)
{
    const char *file = getenv("LAYER_COUNTS");
    FILE *out = file ? fopen(file, "a") : NULL;

    if (!out)
        return;
    for (int i = 0; i < NUMBERS; i++)
        if (counts[i])
            fprintf(out, "%s %lu\n", names[i], counts[i]);
    for (int i = 0; i < KERNELS && kernels[i].count; i++)
        fprintf(out, "kernel %s %lu\n", kernels[i].name, kernels[i].count);
    fclose(out);
}

/* ---- another clock ---- */

static uint64_t now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Drift counts from a fixed instant, so that all processes have one clock. */
static cl_ulong skewed(cl_ulong ns)
{
    return ns + (cl_ulong)(int64_t)(offset_ns + drift * (double)(int64_t)ns);
}

static void write_truth(cl_event event, cl_ulong end)
{
    const char *file = getenv("LAYER_TRUTH");
    int fd = file ? open(file, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    cl_ulong start = 0;
    char line[128];
    int64_t monotonic;

    if (fd < 0)
        return;
    below.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    /* Of the two clocks of the host one is slewed: over the ms since then that is some ns. */
    monotonic = (int64_t)(now(CLOCK_MONOTONIC) - now(CLOCK_MONOTONIC_RAW));
    if (write(fd, line,
              (size_t)snprintf(line, sizeof line, "%lu %lu %lu %lu\n", skewed(start), skewed(end),
                               start + (cl_ulong)monotonic, end + (cl_ulong)monotonic)) < 0)
        perror(file);
    close(fd);
}

static cl_int CL_API_CALL no_times(cl_event event, cl_profiling_info what, size_t size, void *value, size_t *needed)
{
    cl_int result = below.clGetEventProfilingInfo(event, what, size, value, needed);

    if (result == CL_SUCCESS && value)
        *(cl_ulong *)value = what == CL_PROFILING_COMMAND_END;
    return result;
}

static cl_int CL_API_CALL times(cl_event event, cl_profiling_info what, size_t size, void *value, size_t *needed)
{
    cl_int result = below.clGetEventProfilingInfo(event, what, size, value, needed);

    if (result == CL_SUCCESS && value) {
        if (what == CL_PROFILING_COMMAND_END)
            write_truth(event, *(cl_ulong *)value);
        *(cl_ulong *)value = skewed(*(cl_ulong *)value);
    }
    return result;
}

static cl_int CL_API_CALL timer(cl_device_id device, cl_ulong *device_time, cl_ulong *host_time)
{
    (void)device;
    *device_time = skewed(now(CLOCK_MONOTONIC_RAW));
    *host_time = now(CLOCK_MONOTONIC);
    return CL_SUCCESS;
}

/* A driver's own timer would tell of a clock that is not skewed. */
static cl_int CL_API_CALL no_timer(cl_device_id device, cl_ulong *device_time, cl_ulong *host_time)
{
    (void)device, (void)device_time, (void)host_time;
    return CL_INVALID_OPERATION;
}

static cl_int CL_API_CALL host_timer(cl_device_id device, cl_ulong *host_time)
{
    (void)device;
    *host_time = now(CLOCK_MONOTONIC);
    return CL_SUCCESS;
}

/* ---- failures ---- */

struct told {
    void(CL_CALLBACK *tell)(cl_event, cl_int, void *);
    void *data;
};

static void CL_CALLBACK fail_some(cl_event event, cl_int status, void *data)
{
    struct told told = *(struct told *)data;

    free(data);
    told.tell(event, (++ended) % strtoul(getenv("LAYER_FAILS"), NULL, 10) ? status : -5, told.data);
}

static cl_int CL_API_CALL set_callback(cl_event event, cl_int type, void(CL_CALLBACK *tell)(cl_event, cl_int, void *),
                                       void *data)
{
    struct told *told = malloc(sizeof *told);

    *told = (struct told){tell, data};
    return below.clSetEventCallback(event, type, fail_some, told);
}

/* ---- an old driver ---- */

static cl_int CL_API_CALL old_platform(cl_platform_id platform, cl_platform_info what, size_t size, void *value,
                                       size_t *needed)
{
    static const char version[] = "OpenCL 1.0 old";

    if (what != CL_PLATFORM_VERSION)
        return below.clGetPlatformInfo(platform, what, size, value, needed);
    if (value && size < sizeof version)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, version, sizeof version);
    if (needed)
        *needed = sizeof version;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL no_callback(cl_event event, cl_int type, void(CL_CALLBACK *tell)(cl_event, cl_int, void *),
                                      void *data)
{
    (void)event, (void)type, (void)tell, (void)data;
    abort();
}

/* ---- an extension ---- */

static cl_int CL_API_CALL read_pipe(cl_command_queue queue, cl_program program, const char *name, cl_bool blocking,
                                    void *to, size_t size, cl_uint count, const cl_event *waits, cl_event *event)
{
    (void)program, (void)name, (void)blocking, (void)to, (void)size;
    return below.clEnqueueMarkerWithWaitList(queue, count, waits, event);
}

static void *CL_API_CALL extension(cl_platform_id platform, const char *name)
{
    return strcmp(name, "clEnqueueReadHostPipeINTEL") ? below.clGetExtensionFunctionAddressForPlatform(platform, name)
                                                      : (void *)read_pipe;
}

/* ---- the layer ---- */

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *needed)
{
    if (what == CL_LAYER_API_VERSION && value && size >= sizeof(cl_layer_api_version))
        *(cl_layer_api_version *)value = CL_LAYER_API_VERSION_100;
    if (needed)
        *needed = sizeof(cl_layer_api_version);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *target, cl_uint *entries_here,
                                            const cl_icd_dispatch **layer)
{
    const char *clock = getenv("LAYER_CLOCK");

    memcpy(&below, target, entries * sizeof(void *) < sizeof below ? entries * sizeof(void *) : sizeof below);
    ours = below;
#define F(name) ours.clEnqueue##name = (__typeof__(ours.clEnqueue##name))counted_##name;
    FUNCTIONS(F)
#undef F
    if (clock && sscanf(clock, "%lf,%lf", &offset_ns, &drift) == 2) {
        offset_ns *= 1e9;
        ours.clGetEventProfilingInfo = times;
        ours.clGetDeviceAndHostTimer = no_timer;
    }
    if (getenv("LAYER_NO_CLOCK"))
        ours.clGetEventProfilingInfo = no_times;
    if (getenv("LAYER_TIMER")) {
        ours.clGetDeviceAndHostTimer = timer;
        ours.clGetHostTimer = host_timer;
    }
    if (getenv("LAYER_1_0")) {
        ours.clGetPlatformInfo = old_platform;
        ours.clSetEventCallback = no_callback;
        ours.clGetDeviceAndHostTimer = no_timer;
    }
    if (getenv("LAYER_PIPE"))
        ours.clGetExtensionFunctionAddressForPlatform = extension;
    if (getenv("LAYER_FAILS"))
        ours.clSetEventCallback = set_callback;
    atexit(write_counts);
    *layer = &ours;
    *entries_here = sizeof ours / sizeof(void *);
    return CL_SUCCESS;
}
