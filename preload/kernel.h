/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions of the kernel since 5.9 to 6.x that older headers lack: what was built with these may run on a newer
 * kernel all the same. */
#ifndef HQ_PRELOAD_KERNEL_H
#define HQ_PRELOAD_KERNEL_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef IORING_ENTER_EXT_ARG
#define IORING_ENTER_EXT_ARG (1U << 3)
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* struct perf_event_attr as of Linux 5.13: the bits are those behind `read_format`. */
enum { KERNEL_EVENT_BYTES = 128, KERNEL_EVENT_SIGNAL_DATA = 120 };
#define KERNEL_EVENT_INHERIT        (1ull << 1)
#define KERNEL_EVENT_REMOVE_ON_EXEC (1ull << 36)
#define KERNEL_EVENT_SIGTRAP        (1ull << 37)

union kernel_event {
    struct perf_event_attr known;
    struct {
        uint64_t before[5], bits, between[9], signal_data;
    } whole;
};
/* si_code of its signal: the C library learns the name in version 2.37. */
enum { KERNEL_TRAP_PERF = 6 };
_Static_assert(sizeof(union kernel_event) >= KERNEL_EVENT_BYTES, "it ends behind the signal's data");

#endif
