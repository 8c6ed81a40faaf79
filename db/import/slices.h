/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The begin, end and complete events of a trace, put in the order of their threads and times. Memory does not depend on
 * how many there are: sorted runs of them go into a temporary file and are merged.
 */
#ifndef HQ_DB_IMPORT_SLICES_H
#define HQ_DB_IMPORT_SLICES_H

#include "common/vec.h"
#include "db/model/spool.h"

enum { SLICES_RUN = 512 << 10 };

struct slice {
    long double ts, dur; /* microseconds, also since 1970: those have 16 digits, and three behind the point */
    uint32_t thread;     /* a number */
    uint32_t name;
    uint32_t phase; /* X, B or E */
    uint32_t order; /* in the file */
};

/* A sorted stretch of the spool, of which a part is in memory. */
struct slice_run {
    uint64_t at, end;
    struct slice *data;
    size_t next, len;
};

struct slices {
    size_t run_length;      /* private, as all of it */
    VEC(struct slice) last; /* the run that is being filled */
    struct spool spool;
    VEC(struct slice_run) runs; /* once they are read: a heap, the first slice on top */
    uint64_t count;
};

/* A run is what is held in memory; SLICES_RUN but in tests. The directory is not owned. */
void slices_init(struct slices *s, size_t run_length, const char *directory);
void slices_deinit(struct slices *s);
struct hq_error *slices_add(struct slices *s, const struct slice *slice);
/* After the last one, and before the first is taken. */
struct hq_error *slices_sort(struct slices *s);
/* The next one; *more is false behind the last. */
struct hq_error *slices_next(struct slices *s, struct slice *out, bool *more);

#endif
