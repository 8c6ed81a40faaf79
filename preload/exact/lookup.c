/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the wrapped functions themselves. */
#include "preload/exact/exact.h"

#include "preload/libc.h"
#include "preload/raw.h"

#include <dlfcn.h>

volatile int raw_frozen; /* of this library; follows the collector's (blocks.c) */

void *real_lookup(_Atomic(void *) *where, const char *name)
{
    __typeof__(&dlsym) find = (__typeof__(&dlsym))hq_exact_dlsym();
    void *address = find ? find(RTLD_NEXT, name) : NULL;

    atomic_store_explicit(where, address, memory_order_relaxed);
    return address;
}
