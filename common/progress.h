/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A progress line on standard error: `reading measurements 120/4096 (3 %)`. Only on a terminal, only after a second (or at once when
 * asked), at most ten times a second, and erased at the end. One at a time; a second one started meanwhile stays invisible.
 */
#ifndef HQ_COMMON_PROGRESS_H
#define HQ_COMMON_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what;           /* not owned */
    uint64_t total;             /* 0: unknown */
    atomic_uint_fast64_t done;
    atomic_uint_fast64_t next;  /* private: monotonic ns of the next drawing */
    bool visible;               /* private: standard error is a terminal and the line is ours */
};

void progress_start(struct progress *p, const char *what, uint64_t total, bool at_once);
/* From any thread. */
void progress_add(struct progress *p, uint64_t n);
void progress_finish(struct progress *p);

/* Erases the line that is on the screen, if any, so that something else can be printed; the next drawing brings it back. */
void progress_hide(void);

#endif
