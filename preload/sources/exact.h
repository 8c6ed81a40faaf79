/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact amounts at the call path of a wrapper. The wrappers (preload/exact/) are a library of their own, libhqexact.so,
 * which is loaded only when such an event is asked for, so that malloc and its like cost nothing otherwise. It calls
 * these; so does libhqmpi.so (preload/mpi/) for MPI.
 */
#ifndef HQ_PRELOAD_SOURCES_EXACT_H
#define HQ_PRELOAD_SOURCES_EXACT_H

#include "format/measurement.h"

#include <stdbool.h>

/* The number of an event, -1 if it was not asked for, EXACT_EARLY if the collector has not started. */
enum { EXACT_EARLY = -2 };
int hq_exact_event(const char *name);

struct exact_amount {
    int event;   /* below 0: skip */
    bool shared; /* others take back from it (hq_exact_take_back) */
    uint64_t amount, count;
    struct hqm_cell *cell; /* out: where it was added, or NULL */
};

/*
 * Adds amounts at the call path that leads from the program into `function`, the one that is wrapped: it becomes the
 * innermost frame. errno is kept. Not in signal handlers of ours.
 */
void hq_exact_add(const void *function, struct exact_amount *amounts, int count);

/* The same, sooner, with the frame pointer of the wrapper (__builtin_frame_address(0)). */
void hq_exact_add_from(const void *frame, const void *function, struct exact_amount *amounts, int count);

/*
 * Messages at the call path: how many were sent to a rank, or to each of a group of ranks other than the sender, and
 * how many of a rank's were received; 0 of both adds nothing. Ranks are those of MPI_COMM_WORLD.
 */
struct exact_message {
    int32_t peer;          /* -1: not known; 0 if there is a group */
    uint32_t group;        /* hq_exact_text of its ranks, "0-3,7"; 0: a single rank */
    uint64_t count, bytes; /* sent, to each */
    uint64_t time_ns;      /* of the calls that sent them, to all together */
    uint64_t received, received_bytes;
};

/* hq_exact_add for a call that moves messages. */
void hq_exact_call(const void *function, struct exact_amount *amounts, int count, const struct exact_message *messages,
                   int message_count);

/*
 * Around a call of `function`, with a trace: it is marked where it begins and ends, as a marked procedure is
 * (patch/patch.h). One that was left by a jump is ended by whoever knows of that.
 */
struct exact_visit {
    struct hqm_region *record; /* NULL: it is not marked */
    uint64_t start_us;
    uint32_t node, path; /* where it was made */
    unsigned epoch;
};
void hq_exact_enter(const void *function, struct exact_visit *visit);
void hq_exact_leave(struct exact_visit *visit);

/* Finds a name in the library in which `address` lies and in those that it needs, which need not be loaded for all of
 * the program. hq_exact_symbol first looks for one that all of the program sees. NULL if there is none. */
void *hq_exact_behind_call(const void *address, const char *name); /* ../libc.c */
void *hq_exact_symbol(const void *address, const char *name);

/* Who defines a name in front of the collector, so that nothing of ours is called by it: the file of a library that was
 * preloaded before ours, without its directory, "": the program itself, NULL: nobody. */
const char *hq_exact_in_front(const char *name); /* ../libc.c */
/* Does it refer to one of a library? */
bool hq_exact_wanted_by_program(const char *name);

/* Are two functions of one load module? Not in signal handlers. */
bool hq_exact_together(const void *first, const void *second);

/* The file of the load module that holds an address, without its directory: "" of the program itself, NULL: none. */
const char *hq_exact_module(const void *address); /* ../libc.c */

/* A text in the measurement file, 0 if there is no space. */
uint32_t hq_exact_text(const char *text);

/* The process is this rank of a parallel program, if no launcher has said so already. */
void hq_exact_rank(int rank);

/* A sentence for standard error and for `info`, once. */
void hq_exact_warn(const char *text);

/* May no system call be made any more (confine.c)? */
int hq_exact_frozen(void);

/* Nanoseconds of the monotonic clock, without the C library: the program may have a clock_gettime of its own. */
uint64_t hq_exact_now(void); /* ../vdso.c */

/* Takes back from a cell, of whatever thread, what was added to it. */
void hq_exact_take_back(struct hqm_cell *cell, uint64_t amount);

/* Counts changes of process by fork: cells found before one are not this process's. */
unsigned hq_exact_epoch(void);

#endif
