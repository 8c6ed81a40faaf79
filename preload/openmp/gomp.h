/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the wrappers of libgomp's functions: gomp.c (regions) and tasks.c. */
#ifndef HQ_PRELOAD_OPENMP_GOMP_H
#define HQ_PRELOAD_OPENMP_GOMP_H

#include "preload/export.h"
#include "preload/openmp/region.h"

typedef void body_function(void *);

/* The runtime's function of a name, kept in *where; NULL: there is none. `caller`: an address in who calls it. */
void *gomp_find(_Atomic(void *) *where, const char *name, const void *caller);

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))
#define RUNTIME(function) \
    ({ \
        static _Atomic(void *) found_; \
        void *address_ = atomic_load_explicit(&found_, memory_order_relaxed); \
        (__typeof__(&function))(address_ ? address_ : gomp_find(&found_, #function, CALLER)); \
    })

#endif
