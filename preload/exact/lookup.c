/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the wrapped functions themselves. */
#include "preload/exact/exact.h"

#include "preload/libc.h"
#include "preload/raw.h"
#include "preload/versions.h"

#include <dlfcn.h>

volatile int raw_frozen; /* of this library; follows the collector's (blocks.c) */

void *real_next(const char *name)
{
    return version_find((__typeof__(&dlsym))hq_exact_dlsym(), (__typeof__(&dlvsym))hq_exact_dlvsym(), RTLD_NEXT, name);
}

void *real_lookup(_Atomic(void *) *where, const char *name)
{
    void *address = real_next(name);

    if (!address)
        address = hq_exact_beside(name);
    atomic_store_explicit(where, address, memory_order_relaxed);
    return address;
}

static __attribute__((constructor)) void start(void)
{
    real_find_all(real_next);
}
