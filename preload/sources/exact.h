/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact amounts at the call path of a wrapper. The wrappers (preload/exact/) are a library of their own, libhqexact.so,
 * which is loaded only when such an event is asked for, so that malloc and its like cost nothing otherwise. It calls
 * these two.
 */
#ifndef HQ_PRELOAD_SOURCES_EXACT_H
#define HQ_PRELOAD_SOURCES_EXACT_H

#include "format/measurement.h"

#include <stdbool.h>

/* The number of an event, -1 if it was not asked for, EXACT_EARLY if the collector has not started. */
enum { EXACT_EARLY = -2 };
int hq_exact_event(const char *name);

struct exact_amount {
    int event; /* below 0: skip */
    uint64_t amount, count;
    struct hqm_cell *cell; /* out: where it was added, or NULL */
};

/*
 * Adds amounts at the call path that leads from the program into `function`, the one that is wrapped: it becomes the
 * innermost frame. errno is kept. Not in signal handlers of ours.
 */
void hq_exact_add(const void *function, struct exact_amount *amounts, int count);

/* May no system call be made any more (confine.c)? */
int hq_exact_frozen(void);

/* Takes back from a cell, of whatever thread, what was added to it. */
void hq_exact_take_back(struct hqm_cell *cell, uint64_t amount);

/* Counts changes of process by fork: cells found before one are not this process's. */
unsigned hq_exact_epoch(void);

#endif
