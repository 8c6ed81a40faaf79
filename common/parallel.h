/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Independent pieces of work on several threads. Pieces are handed out one at a time in ascending order from an atomic
 * counter, so uneven pieces balance. The caller's thread works too; if a thread cannot be started, the others do its
 * share.
 */
#ifndef HQ_COMMON_PARALLEL_H
#define HQ_COMMON_PARALLEL_H

#include "common/err.h"
#include <stddef.h>

/* Processors this process may run on (sched_getaffinity), at least 1. */
unsigned parallel_threads(void);

/* Calls fn for index 0 .. n-1 and returns when all are done. threads 0: parallel_threads(). worker is below the number
 * of threads and names the calling one: use it to index scratch space. */
void parallel_for(size_t n, unsigned threads, void (*fn)(size_t index, unsigned worker, void *arg), void *arg);

/* Like parallel_for, for work that can fail: no piece is started after the first failure; the error of the lowest index
 * is returned. */
struct hq_error *parallel_try(size_t n, unsigned threads,
                              struct hq_error *(*fn)(size_t index, unsigned worker, void *arg), void *arg);

#endif
