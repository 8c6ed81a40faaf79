/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the wrapped functions themselves. */
#include "preload/exact/exact.h"

#include "preload/raw.h"

#include <dlfcn.h>

volatile int raw_frozen; /* of this library; follows the collector's (blocks.c) */

void *real_lookup(_Atomic(void *) *where, const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);

    atomic_store_explicit(where, address, memory_order_relaxed);
    return address;
}
