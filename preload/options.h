/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options that `hq record` passes, read once from the environment when the library is loaded; constant afterwards,
 * except where a comment below says otherwise.
 *
 *   HQ_DIR         absolute directory of the measurement files; without it the library does nothing
 *   HQ_HOME, HQ_NODE  where the files belong if HQ_DIR is a directory of the host HQ_NODE alone
 *   HQ_MACHINE     HOST/TEXT: its processors and kernel, for the processes on that host
 *   HQ_LAUNCH      identity of the launch, a number
 *   HQ_EVENTS      EVENT@PERIOD,...: period in the base units of the event, nanoseconds for the clocks
 *   HQ_TRACE       0: no traces
 *   HQ_MAX_SIZE    bytes that the file of a process may have; its trace keeps the newest records
 *   HQ_RANKS       LIST such as 0-3,7: only these ranks are measured
 *   HQ_FROM_US     nothing is measured before this time, microseconds since 1970
 *   HQ_UNTIL_US    nor from this time on
 *   HQ_STOPPED     1: nothing is measured until the program calls hq_start (hq.h)
 */
#ifndef HQ_PRELOAD_OPTIONS_H
#define HQ_PRELOAD_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EVENTS_MAX = 14 }; /* event numbers in a trace record have 4 bits, of which two values are taken */

/* The fields that every sample needs stand first, in one or two cache lines. */
extern struct options {
    bool active, trace;
    bool marked;          /* there are breakpoints in marked procedures (patch/patch.h) */
    _Atomic bool stopped; /* set by the program too: window.h */
    bool handles;         /* the program has handlers of signals that may come anywhere */
    bool gives_base;      /* the base of thread-local storage can be read and set: reach.h */
    bool has_keys; /* the program has asked for a key of protection, or code that cannot be read, which takes one */
    int32_t rank;  /* -1: none; that of MPI_COMM_WORLD, as soon as it is known, if no launcher tells one */
    int events;
    uint32_t counted;           /* a bit for each event whose value so far goes into the trace (counts.h) */
    uint32_t timed;             /* a bit for each clock */
    int clock;                  /* event + 1 of CPUTIME, if there is a trace; 0: none */
    int weighed;                /* event + 1 whose weights the header tells; 0: none */
    uint64_t from_us, until_us; /* 0: no limit */
    uint64_t max_size;          /* likewise */
    uint64_t period[EVENTS_MAX];
    char name[EVENTS_MAX][64];
    char directory[PATH_MAX];
    char home[PATH_MAX]; /* where the files belong if `directory` is only the first place; "": they stay */
    bool brings;         /* this process brings them there itself (file/deliver.h) */
    char host[65];
    char machine[192]; /* "": not known */
    uint64_t launch;
    const char *launcher; /* "": none */
} options;

/* False, with one sentence on standard error if there is something wrong, if the process is not to be measured. */
bool options_read(void);

/* As write(2), where what is written is not worth a signal that ends or stops the program: of a pipe that nobody reads
 * any more, a file at its limit, another's terminal. Safe in a signal handler. */
long write_quietly(int fd, const void *bytes, size_t count);

/* Once, when the library is loaded: notes which file standard error is. */
void say_prepare(void);

/* One sentence on standard error, "hq: ..."; the parts are put together, NULL ends them. Nothing is written where
 * descriptor 2 is another file by now, or would have to be waited for, or a filter forbids to. Safe in a signal
 * handler.
 */
void say(const char *part, ...);

#endif
