/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources of samples and of exact amounts: one row each in format/events.def. A new source is a file here, which
 * defines its `const struct source source_NAME`, and a row.
 */
#ifndef HQ_PRELOAD_SOURCES_SOURCE_H
#define HQ_PRELOAD_SOURCES_SOURCE_H

#include "format/measurement.h"
#include "preload/options.h"

#include <stdbool.h>

struct source {
    const char *description; /* what one unit of the metric is, for people */
    uint16_t dimension;      /* enum hqm_dimension */
    uint16_t flags;          /* HQM_EVENT_SAMPLED or HQM_EVENT_EXACT */
    double scale;            /* value in seconds, events or bytes = amount * scale */
    /* Once, when the library is loaded: false (after a sentence on standard error) if it cannot be had. May be NULL. */
    bool (*prepare)(int event);
    /* In each thread, by the thread itself, with its guard up: start and stop. May be NULL. */
    bool (*start)(int event);
    void (*stop)(int event);
    void (*forget)(void); /* in a forked child: nothing of this runs here */
    /* Reads what this thread has counted so far of all events of the source: values[event]. Also called in signal
     * handlers. May be NULL. */
    void (*read)(uint64_t *values);
};

/* Finds the source of each requested event and prepares it; an event that cannot be measured is dropped. */
bool sources_prepare(void);

/* Of an event that sources_prepare has found a source for. */
const struct source *sources_of_event(int event);

/* In a thread: all of them. */
void sources_start(void);
void sources_stop(void);
void sources_forget(void);

/* Reads what the thread has counted so far of the events that sources count: values[event]. With the guard up. */
void sources_read(uint64_t *values);

#define CLOCK(event, ...) extern const struct source source_##event;
#include "format/events.def"
extern const struct source source_papi; /* whatever the others are not */

#endif
