/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that the C library of x86-64 has in two versions. Until 2.35 dlsym(RTLD_NEXT) finds the older one (glibc's
 * bug 14932), with which a condition variable is another one than that which is signalled. So these are asked for by
 * the version that programs are linked with today.
 */
#ifndef HQ_PRELOAD_VERSIONS_H
#define HQ_PRELOAD_VERSIONS_H

#include <stddef.h>
#include <string.h>

/* The version of the function; NULL: there is one alone. */
static inline const char *version_of(const char *name)
{
    static const struct {
        const char *name, *version;
    } newer[] = {
        {"clock_nanosleep", "GLIBC_2.17"},    {"lio_listio", "GLIBC_2.4"},
        {"posix_spawn", "GLIBC_2.15"},        {"posix_spawnp", "GLIBC_2.15"},
        {"pthread_cond_wait", "GLIBC_2.3.2"}, {"pthread_cond_timedwait", "GLIBC_2.3.2"},
        {"quick_exit", "GLIBC_2.24"},         {"timer_create", "GLIBC_2.3.3"},
    };

    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
        if (strcmp(name, newer[i].name) == 0)
            return newer[i].version;
    return NULL;
}

#endif
