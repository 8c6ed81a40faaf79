/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts about the clocks that sample CPUTIME (enum hqm_clock). */
#ifndef HQ_DB_CPU_CLOCK_H
#define HQ_DB_CPU_CLOCK_H

#include "common/str.h"
#include "format/measurement.h"

#include <stdbool.h>

/* In a few words, for the line at the end of a recording. */
const char *clock_name(enum hqm_clock clock);

/* The clocks of some processes. All zero at first; CLOCK_REASONS more reasons are left out. */
enum { CLOCK_REASONS = 4 };

struct clock_use {
    bool used[HQM_CLOCKS]; /* by the threads of a process, but for those that had to take timers */
    bool timer_threads;    /* these, in a process with a better clock */
    int reasons[CLOCK_REASONS];
    unsigned reason_count;
};

/* A process with this header samples CPUTIME. */
void clock_use_add(struct clock_use *use, const struct hqm_header *header);

/*
 * In a sentence, each clock once and the best one first: what is known to be wrong with its samples, and why there was
 * no better one. Nothing if the files do not tell.
 */
void clock_describe(const struct clock_use *use, struct str *out);

#endif
