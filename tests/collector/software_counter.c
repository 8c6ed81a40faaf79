/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loaded into a program on a machine without performance counters: hardware, raw and cache events of perf_event_open
 * become the kernel's software clock of the task, in nanoseconds. With LIBPFM_FORCE_PMU naming a processor, the real
 * PAPI library then counts and overflows.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

long syscall(long number, ...)
{
    static long (*real)(long, ...);
    struct perf_event_attr attributes;
    va_list list;
    long a[6];

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (!real)
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_perf_event_open) {
        const struct perf_event_attr *given = (const struct perf_event_attr *)a[0];
        memset(&attributes, 0, sizeof attributes);
        memcpy(&attributes, given, given->size && given->size < sizeof attributes ? given->size : sizeof attributes);
        if (attributes.type != PERF_TYPE_SOFTWARE && attributes.type != PERF_TYPE_TRACEPOINT) {
            attributes.type = PERF_TYPE_SOFTWARE;
            attributes.config = PERF_COUNT_SW_TASK_CLOCK;
            attributes.config1 = attributes.config2 = 0;
            attributes.pinned = attributes.exclude_guest = attributes.precise_ip = 0;
            a[0] = (long)&attributes;
        }
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
