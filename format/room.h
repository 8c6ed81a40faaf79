/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the collector has no room, so that a program runs without it: asked by `hq record` of the program that it
 * starts, and by the collector of those that the program starts. Pure, without a call into the C library but strstr:
 * usable where a child of vfork is about to exec.
 */
#ifndef HQ_FORMAT_ROOM_H
#define HQ_FORMAT_ROOM_H

#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

/* With less memory for data (RLIMIT_DATA), or for all (RLIMIT_AS), the loader that has loaded the collector may find no
 * room for the program's own libraries: then it is not loaded. */
#define HQM_LEAST_DATA  (8 << 20)
#define HQM_LEAST_SPACE (16 << 20)
/* With less stack (RLIMIT_STACK) it may come to its end before the program has begun. */
#define HQM_LEAST_STACK (32 << 10)

static inline bool hqm_is_short_of_memory(struct rlimit data, struct rlimit all, struct rlimit stack)
{
    return data.rlim_cur < HQM_LEAST_DATA || all.rlim_cur < HQM_LEAST_SPACE || stack.rlim_cur < HQM_LEAST_STACK;
}

/* A loader that audits makes room for thread-local storage before it knows of the collector, and then there is none.
 * Takes the values of LD_AUDIT and GLIBC_TUNABLES, NULL where they are not set. */
static inline bool hqm_is_audited(const char *libraries, const char *tunables)
{
    return libraries && *libraries && !(tunables && strstr(tunables, "optional_static_tls"));
}

#endif
