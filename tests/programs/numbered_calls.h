/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of interrupts.c that are made by their numbers, with its descriptors and time. */
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

static int do_futex_by_number(void)
{
    static int word;
    return (int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &wait_for, NULL, 0);
}
static int do_getevents_by_number(void)
{
    static aio_context_t events;
    struct io_event event;
    if (!events && syscall(SYS_io_setup, 1, &events)) /* an emulator may have no such calls */
        return nanosleep(&wait_for, NULL);
    return (int)syscall(SYS_io_getevents, events, 1, 1, &event, &wait_for);
}
static int do_epoll_by_number(void)
{
    struct epoll_event e;
    return (int)syscall(SYS_epoll_pwait, epoll, &e, 1, ms, NULL, 8);
}

static int do_nanosleep_by_number(void)
{
    return (int)syscall(SYS_nanosleep, &wait_for, NULL);
}
static int do_sleep_on_by_number(void) /* what is left goes where the time came from */
{
    struct timespec t = wait_for;
    return (int)syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, &t);
}

/* With a mask, or none. The kernel leaves what is left in `limit`, if it can. */
static int poll_by_number(struct timespec *limit, const uint64_t *mask)
{
    struct pollfd p = {pair[0], POLLIN, 0};
    return (int)syscall(SYS_ppoll, &p, 1, limit, mask, 8);
}
static int do_ppoll_by_number(void)
{
    struct timespec t = wait_for;
    return poll_by_number(&t, NULL);
}
static int do_ppoll_by_number_masked(void)
{
    struct timespec t = wait_for;
    return poll_by_number(&t, &(uint64_t){0});
}
static int do_ppoll_by_number_kept(void)
{
    static struct timespec *kept;
    if (!kept) {
        kept = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *kept = wait_for;
        mprotect(kept, 4096, PROT_READ);
    }
    int result = poll_by_number(kept, &(uint64_t){0});
    return result < 0 && errno == EFAULT ? 0 : result; /* QEMU's user emulation says so after the wait */
}
static int do_pselect_by_number(void)
{
    struct timespec t = wait_for;
    struct {
        uint64_t *mask;
        size_t bytes;
    } masked = {&(uint64_t){0}, 8};
    return (int)syscall(SYS_pselect6, 0, NULL, NULL, NULL, &t, &masked);
}
static int do_epoll_pwait2_by_number(void)
{
    struct epoll_event e;
#ifdef SYS_epoll_pwait2
    return (int)syscall(SYS_epoll_pwait2, epoll, &e, 1, &wait_for, &(uint64_t){0}, 8);
#else
    return (int)syscall(SYS_epoll_pwait, epoll, &e, 1, ms, &(uint64_t){0}, 8);
#endif
}
static int do_read_by_number(void)
{
    char c;
    return (int)syscall(SYS_read, pair[0], &c, 1);
}
static int do_accept_by_number(void)
{
    return (int)syscall(SYS_accept4, listening, NULL, NULL, 0);
}
static int do_write_by_number(void)
{
    return (int)syscall(SYS_write, full, "x", 1);
}
