/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock for a few instructions, which no signal handler of ours takes. */
#ifndef HQ_PRELOAD_LOCK_H
#define HQ_PRELOAD_LOCK_H

#include "preload/raw.h"

#include <stdatomic.h>

static inline void lock_take(_Atomic unsigned *lock)
{
    while (atomic_exchange_explicit(lock, 1, memory_order_acquire))
        raw_yield();
}

static inline void lock_release(_Atomic unsigned *lock)
{
    atomic_store_explicit(lock, 0, memory_order_release);
}

#endif
