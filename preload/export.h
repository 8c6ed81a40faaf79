/* SPDX-License-Identifier: BSD-3-Clause */
/* What the library shows to the program: everything else is hidden by the compiler's default. */
#ifndef HQ_PRELOAD_EXPORT_H
#define HQ_PRELOAD_EXPORT_H

#include <stdatomic.h>

#define EXPORT __attribute__((visibility("default")))

/* The next definition of a symbol after this library, usually libc's; found at the first call, then kept. */
void *real_lookup(_Atomic(void *) *where, const char *name); /* libc.c */

#define REAL(function) \
    ({ \
        static _Atomic(void *) found_; \
        void *address_ = atomic_load_explicit(&found_, memory_order_relaxed); \
        (__typeof__(&function))(address_ ? address_ : real_lookup(&found_, #function)); \
    })

#endif
