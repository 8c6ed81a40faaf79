/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the wrappers of libhqexact.so, the library of exact events. */
#ifndef HQ_PRELOAD_EXACT_EXACT_H
#define HQ_PRELOAD_EXACT_EXACT_H

#include "preload/export.h"
#include "preload/sources/exact.h"

/* The number of an event, looked up until the collector has started. */
#define EVENT(name) \
    ({ \
        static _Atomic int number_ = EXACT_EARLY; \
        int event_ = atomic_load_explicit(&number_, memory_order_relaxed); \
        if (event_ == EXACT_EARLY) { \
            event_ = hq_exact_event(name); \
            atomic_store_explicit(&number_, event_, memory_order_relaxed); \
        } \
        event_; \
    })

#endif
