/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that the C library of x86-64 has in two versions. Until 2.35 dlsym(RTLD_NEXT) finds the older one (glibc's
 * bug 14932), with which a condition variable is another one than that which is signalled. So these are asked for by
 * the version that programs are linked with today.
 */
#ifndef HQ_PRELOAD_VERSIONS_H
#define HQ_PRELOAD_VERSIONS_H

#include "preload/text.h"

#include <stddef.h>

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
        if (same_text(name, newer[i].name))
            return newer[i].version;
    return NULL;
}

/*
 * Finds what dlsym finds, or dlvsym (which may be NULL) where the version counts; NULL: nothing. RTLD_NEXT is behind
 * the library that calls, so this is inlined, and never ends in a jump to dlsym.
 */
static inline __attribute__((always_inline)) void *version_find(void *(*symbol)(void *, const char *),
                                                                void *(*versioned)(void *, const char *, const char *),
                                                                void *handle, const char *name)
{
    const char *version = versioned ? version_of(name) : NULL;
    void *found = version ? versioned(handle, name, version) : NULL;

    if (!found && symbol)
        found = symbol(handle, name);
    __asm__ volatile("" : "+r"(found));
    return found;
}

#endif
