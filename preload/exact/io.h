/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts for the wrappers of calls that read and write. */
#ifndef HQ_PRELOAD_EXACT_IO_H
#define HQ_PRELOAD_EXACT_IO_H

#include "preload/exact/exact.h"

#include <sys/types.h>

/* Bytes that a call of `function` has read or written, -1 on failure; returned again. */
static inline ssize_t count_read(const void *function, ssize_t bytes)
{
    struct exact_amount amount = {.event = EVENT("IO_READ"), .amount = (uint64_t)bytes, .count = 1};

    if (bytes > 0 && amount.event >= 0)
        hq_exact_add(function, &amount, 1);
    return bytes;
}

static inline ssize_t count_written(const void *function, ssize_t bytes)
{
    struct exact_amount amount = {.event = EVENT("IO_WRITE"), .amount = (uint64_t)bytes, .count = 1};

    if (bytes > 0 && amount.event >= 0)
        hq_exact_add(function, &amount, 1);
    return bytes;
}

#endif
