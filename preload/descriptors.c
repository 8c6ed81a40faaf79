/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/descriptors.h"

#include "preload/export.h"
#include "preload/kernel.h"
#include "preload/process.h"
#include "preload/raw.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NUMBERS = 4096, PLACES = 512 };

static struct {
    _Atomic int taken;
    _Atomic int number; /* of the descriptor */
    uint64_t identity;  /* of the event, by the kernel */
} places[PLACES];
static _Atomic int kept;
static volatile bool frozen;
static _Atomic uint16_t place_of[NUMBERS]; /* 0: not ours */

/* 0: what is open there is no perf event. */
static uint64_t identity(int fd)
{
    uint64_t id = 0;

    return raw_syscall(SYS_ioctl, fd, (long)PERF_EVENT_IOC_ID, (long)&id, 0, 0, 0) < 0 ? 0 : id;
}

/* Numbers below this one can be had. */
static int top(void)
{
    struct rlimit now;

    return raw_getrlimit(RLIMIT_NOFILE, &now) < 0 ? 0 : now.rlim_cur > NUMBERS ? NUMBERS : (int)now.rlim_cur;
}

/* How many of them we take at most. */
static int share(void)
{
    return top() / 4 < PLACES ? top() / 4 : PLACES;
}

/* The same descriptor under a number that is free in the last quarter, or -1. */
static int duplicate(int fd)
{
    int copy = (int)raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, top() - share(), 0, 0, 0);

    if (copy >= NUMBERS)
        raw_close(copy);
    return copy < 0 || copy >= NUMBERS ? -1 : copy;
}

static int take_place(void)
{
    static _Atomic unsigned next;

    if (atomic_fetch_add(&kept, 1) < share())
        for (int tries = 0; tries < PLACES; tries++) {
            unsigned i = atomic_fetch_add(&next, 1) % PLACES;
            if (!atomic_exchange(&places[i].taken, 1))
                return (int)i + 1;
        }
    atomic_fetch_sub(&kept, 1);
    return 0;
}

static void leave_place(int place)
{
    atomic_store(&places[place - 1].taken, 0);
    atomic_fetch_sub(&kept, 1);
}

int descriptors_keep(int fd)
{
    int place = take_place(), copy = place ? duplicate(fd) : -1;

    raw_close(fd);
    if (copy >= 0) {
        places[place - 1].identity = identity(copy);
        atomic_store(&places[place - 1].number, copy);
        atomic_store(&place_of[copy], (uint16_t)place);
        return place;
    }
    if (place)
        leave_place(place);
    return 0;
}

bool descriptors_is_open(int place)
{
    return frozen || identity(descriptors_number(place)) == places[place - 1].identity;
}

bool descriptors_read(int place, uint64_t *count)
{
    return !frozen && descriptors_is_open(place) &&
           raw_read(descriptors_number(place), count, sizeof *count) == (long)sizeof *count;
}

int descriptors_number(int place)
{
    return atomic_load(&places[place - 1].number);
}

void descriptors_forget(int place)
{
    uint16_t mine = (uint16_t)place;

    atomic_compare_exchange_strong(&place_of[descriptors_number(place)], &mine, 0);
    leave_place(place);
}

void descriptors_close(int place)
{
    int number = descriptors_number(place);

    if (descriptors_is_open(place)) {
        atomic_store(&place_of[number], 0);
        raw_close(number);
    }
    descriptors_forget(place);
}

void descriptors_freeze(void)
{
    frozen = true;
}

void descriptors_close_all(void)
{
    for (int place = 1; place <= PLACES && atomic_load(&kept) > 0; place++)
        if (atomic_load(&places[place - 1].taken))
            descriptors_close(place);
    atomic_store(&kept, 0);
}

/*
 * Is this number, which the program names, in our keeping? Not in a child of vfork, which has the table of its parent
 * but descriptors of its own, and ends or calls exec soon.
 */
static bool is_ours(int fd)
{
    int place = fd >= 0 && fd < NUMBERS ? atomic_load(&place_of[fd]) : 0;

    return place && process_is_known() && process_is_this() && descriptors_is_open(place);
}

static int not_open(void)
{
    errno = EBADF;
    return -1;
}

/* The program wants the number of one of ours: that moves. */
static void make_way(int fd)
{
    int place = is_ours(fd) ? atomic_load(&place_of[fd]) : 0, copy = place && !frozen ? duplicate(fd) : -1;

    if (!place)
        return;
    atomic_store(&place_of[fd], 0);
    if (copy >= 0) {
        atomic_store(&place_of[copy], (uint16_t)place);
        atomic_store(&places[place - 1].number, copy);
    }
}

EXPORT int close(int fd)
{
    return is_ours(fd) ? not_open() : REAL(close)(fd);
}

EXPORT int dup2(int from, int to)
{
    if (is_ours(from))
        return not_open();
    make_way(to);
    return REAL(dup2)(from, to);
}

EXPORT int dup3(int from, int to, int flags)
{
    if (is_ours(from))
        return not_open();
    make_way(to);
    return REAL(dup3)(from, to, flags);
}

/* The first of ours in the range; NUMBERS if there is none. */
static unsigned first_of_ours(unsigned from, unsigned to)
{
    for (unsigned fd = from; atomic_load(&kept) > 0 && fd <= to && fd < NUMBERS; fd++)
        if (is_ours((int)fd))
            return fd;
    return NUMBERS;
}

/* Around ours. Flags that only mark descriptors are for them too. */
EXPORT int close_range(unsigned from, unsigned to, int flags)
{
    unsigned ours = first_of_ours(from, to);

    while (ours < NUMBERS && !(flags & CLOSE_RANGE_CLOEXEC)) {
        if (ours > from && REAL(close_range)(from, ours - 1, flags) != 0)
            return -1;
        if (ours == to)
            return 0;
        from = ours + 1;
        ours = first_of_ours(from, to);
    }
    return REAL(close_range)(from, to, flags);
}

EXPORT void closefrom(int from)
{
    unsigned first = from < 0 ? 0 : (unsigned)from;

    if (first_of_ours(first, NUMBERS) == NUMBERS) {
        REAL(closefrom)(from);
        return;
    }
    if (close_range(first, ~0u, 0) == 0)
        return;
    /* Kernels before 5.9 have no close_range. */
    for (unsigned fd = first; fd < NUMBERS; fd++)
        if (!is_ours((int)fd))
            raw_close((int)fd);
    REAL(closefrom)(NUMBERS);
}

/*
 * These may be called first in a signal handler or a child of vfork, where the next definition cannot be looked for: it
 * is found now, by calls that fail.
 */
static __attribute__((constructor)) void find_next(void)
{
    int before = errno;

    close(-1);
    dup2(-1, -1);
    dup3(-1, -1, 0);
    close_range(1, 0, 0);
    errno = before;
}
