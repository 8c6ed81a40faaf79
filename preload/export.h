/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks what the library exports to the program: everything else is hidden by the compiler's default. */
#ifndef HQ_PRELOAD_EXPORT_H
#define HQ_PRELOAD_EXPORT_H

#include <stdatomic.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

/* The next definition of a symbol after this library, usually libc's; kept when it has been found. */
void *real_lookup(_Atomic(void *) *where, const char *name); /* libc.c */

/*
 * The functions that a library of the collector has wrapped, in a section of its own. All are looked up at the start
 * (real_find_all), for that takes the loader's lock, and may allocate: a thread that calls one for the first time while
 * a constructor of a plugin waits for it, or in a handler that has interrupted malloc, would wait for ever. A function
 * that is not there then (a plugin may bring it) is looked up when it is called.
 */
struct real {
    const char *name;
    _Atomic(void *) found;
} __attribute__((aligned(16)));
#define REAL_TABLE __attribute__((section("hq_real"), used))

/* The linker's names. Under another one the compiler forgets that they are hidden. */
extern struct real __start_hq_real[] __attribute__((weak, visibility("hidden")));
extern struct real __stop_hq_real[] __attribute__((weak, visibility("hidden")));

/* Looks a name up in the libraries that are loaded; opens none. */
void *real_next(const char *name); /* libc.c */

/* Looks up those of the library that calls this that are not known yet; not in signal handlers. */
static inline void real_find_all(void *(*find)(const char *name))
{
    for (struct real *real = __start_hq_real; real != __stop_hq_real; real++)
        if (!atomic_load_explicit(&real->found, memory_order_relaxed))
            atomic_store_explicit(&real->found, find(real->name), memory_order_relaxed);
    real_next("getpid"); /* which is there: dlerror has nothing to tell the program */
}

/* NULL before the start: what allocators call while they begin must not be looked up then. */
#define REAL_IF_KNOWN(function) \
    ({ \
        static struct real found_ REAL_TABLE = {#function, NULL}; \
        (__typeof__(&function))atomic_load_explicit(&found_.found, memory_order_relaxed); \
    })

#define REAL(function) \
    ({ \
        static struct real found_ REAL_TABLE = {#function, NULL}; \
        void *address_ = atomic_load_explicit(&found_.found, memory_order_relaxed); \
        (__typeof__(&function))(address_ ? address_ : real_lookup(&found_.found, found_.name)); \
    })

#endif
