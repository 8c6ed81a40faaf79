/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A progress line on standard error: `reading measurements 120/4096 (3 %), 4 s`. Only on a terminal, not with --quiet,
 * only after a second (or at once when asked), at most ten times a second, and erased at the end. While nothing is
 * counted the seconds go on by themselves. One that is started meanwhile takes its place until it is finished; both are
 * started and finished by one thread.
 */
#ifndef HQ_COMMON_PROGRESS_H
#define HQ_COMMON_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* not owned */
    uint64_t total;   /* 0: unknown */
    atomic_uint_fast64_t done;
    atomic_uint_fast64_t next; /* private: monotonic ns of the next drawing */
    uint64_t start, first;     /* private: monotonic ns, of the first drawing too */
    bool visible;              /* private: standard error is a terminal and there is a ticker */
    struct progress *under;    /* private: whose line it covers */
    pthread_t ticker;          /* private */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool over; /* under lock */
};

/* `what` stays the caller's, until progress_finish. total 0: not known. at_once: not only after a second. */
void progress_start(struct progress *p, const char *what, uint64_t total, bool at_once);
/* From any thread. */
void progress_add(struct progress *p, uint64_t n);
void progress_finish(struct progress *p);

/* Erases the line that is on the screen, if any, so that something else can be printed; the next drawing brings it
 * back. */
void progress_hide(void);

#endif
