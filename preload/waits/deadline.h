/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Relative timeouts of calls that are made again: what is left of them.
 *
 *     struct timeout limit = timeout_of(wanted);
 *     return AGAIN_WHILE_OURS(REAL(ppoll)(fds, count, timeout_left(&limit), mask));
 *
 * The first call gets the timeout as it was given, right or wrong, wherever that lies: the kernel says so if it cannot
 * be read. errno is left alone.
 */
#ifndef HQ_PRELOAD_WAITS_DEADLINE_H
#define HQ_PRELOAD_WAITS_DEADLINE_H

#include "preload/walk/vdso.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline int64_t deadline_now(void)
{
    return (int64_t)vdso_clock_ns(CLOCK_MONOTONIC);
}

/* The rest of a timeout that began at `since`. The kernel has read it. */
static inline struct timespec deadline_rest(const struct timespec *wanted, int64_t since)
{
    int64_t most = 1000000000, seconds = wanted->tv_sec > most ? most : wanted->tv_sec;
    int64_t rest = seconds * 1000000000 + wanted->tv_nsec - (deadline_now() - since);

    rest = rest > 0 ? rest : 0;
    return (struct timespec){rest / 1000000000, rest % 1000000000};
}

struct timeout {
    const struct timespec *wanted; /* NULL: none */
    int64_t since;
    bool again;
    struct timespec rest;
};

static inline struct timeout timeout_of(const struct timespec *wanted)
{
    return (struct timeout){.wanted = wanted, .since = wanted ? deadline_now() : 0};
}

/* Returns the time limit for the next call; NULL if there is none. */
static inline const struct timespec *timeout_left(struct timeout *t)
{
    if (!t->wanted || !t->again) {
        t->again = true;
        return t->wanted;
    }
    t->rest = deadline_rest(t->wanted, t->since);
    return &t->rest;
}

/* Like struct timeout, in milliseconds, below 0: no limit. Rounded up, so that the whole time has passed when nothing
 * is left. */
struct timeout_ms {
    int wanted;
    bool again;
    int64_t deadline;
};

static inline struct timeout_ms timeout_of_ms(int wanted)
{
    return (struct timeout_ms){wanted, false, wanted > 0 ? deadline_now() + (int64_t)wanted * 1000000 : 0};
}

static inline int timeout_left_ms(struct timeout_ms *t)
{
    int64_t rest;

    if (t->wanted <= 0 || !t->again) {
        t->again = true;
        return t->wanted;
    }
    rest = t->deadline - deadline_now();
    return rest > 0 ? (int)((rest + 999999) / 1000000) : 0;
}

#endif
