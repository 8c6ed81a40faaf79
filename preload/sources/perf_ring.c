/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/sources/perf_ring.h"

#include "preload/hot.h"
#include "preload/kernel.h"
#include "preload/process.h"
#include "preload/raw.h"
#include "preload/reach.h"

#include <string.h>

/*
 * The signal is the one that perf events can raise by themselves (attr.sigtrap), on the way back to user mode: it ends
 * no system call early and cuts none short, it needs no room in a queue, and one a thread at most is pending. Signals
 * of the descriptor (F_SETSIG) do otherwise: a read of /dev/zero comes back with less than was asked for, and where a
 * real-time signal cannot be queued (RLIMIT_SIGPENDING) the kernel sends SIGIO instead, which ends the program. Before
 * Linux 6.11 these too were sent at once; there the clock is taken only if it is asked for.
 */

enum { PAGE = 4096, RECORD = sizeof(struct perf_event_header) + sizeof(uint64_t) /* when it fired */ };

static int open_event(uint64_t period, bool in_kernel)
{
    union kernel_event event;

    memset(&event, 0, sizeof event);
    event.known.type = PERF_TYPE_SOFTWARE;
    event.known.size = KERNEL_EVENT_BYTES;
    event.known.config = PERF_COUNT_SW_CPU_CLOCK;
    event.known.sample_period = period;
    event.known.exclude_kernel = !in_kernel;
    event.known.exclude_hv = !in_kernel;
    event.known.watermark = 1; /* nobody waits at the ring */
    event.known.wakeup_watermark = PAGE;
    event.known.sample_type = PERF_SAMPLE_TIME;
    event.known.use_clockid = 1;
    event.known.clockid = CLOCK_MONOTONIC;
    event.whole.bits |= KERNEL_EVENT_SIGTRAP | KERNEL_EVENT_REMOVE_ON_EXEC;
    event.whole.signal_data = reach_mark(0);
    return (int)raw_syscall(SYS_perf_event_open, (long)&event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
}

int ring_open(uint64_t first, bool in_kernel, const struct perf_event_mmap_page **ring)
{
    void *pages;
    int fd = open_event(first, in_kernel), error = fd;

    if (fd < 0)
        return error;
    error = raw_mmap_at(2 * PAGE, PROT_READ, MAP_SHARED, fd, 0, &pages);
    raw_close(fd);
    if (!error)
        *ring = pages;
    return error;
}

void ring_close(const struct perf_event_mmap_page *ring)
{
    if (!raw_frozen && process_is_this())
        raw_munmap((void *)ring, 2 * PAGE);
}

HOT uint64_t ring_firings(uint64_t from, uint64_t to)
{
    return (to - from) / RECORD;
}

HOT uint64_t ring_fired_ns(const struct perf_event_mmap_page *ring, uint64_t place)
{
    uint64_t fired;

    memcpy(&fired, (const char *)ring + PAGE + (place - sizeof fired) % PAGE, sizeof fired);
    return fired;
}
