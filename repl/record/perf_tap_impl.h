/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of a tap: perf_tap.c opens events and empties the kernel's buffers, perf_tap_stream.c writes what was in them.
 */
#ifndef HQ_REPL_RECORD_PERF_TAP_IMPL_H
#define HQ_REPL_RECORD_PERF_TAP_IMPL_H

#include "common/vec.h"
#include "db/perf/live.h"
#include "repl/record/perf_tap.h"

#include <linux/perf_event.h>
#include <pthread.h>

enum { TAP_OUT_BYTES = 1 << 20, TAP_RECORD_MOST = 1 << 16 };

struct ring { /* of one processor */
    int cpu, fd;
    struct perf_event_mmap_page *page;
    size_t bytes;
};

struct tap {
    int fd, stop;
    struct hqs_header header;
    struct tap_options options;
    VEC(struct ring) rings;
    size_t ring_bytes; /* of each; less where that much may not be had */
    VEC(int) others;   /* events that write to another one's ring */
    struct tap_sum sum;
    uint8_t *out, *record;
    size_t out_len;
    /* Beyond max_bytes stacks are unwound at once. Until then it is known where in the stream the records are of which
     * that needs to know. */
    struct perf_live *live;
    VEC(uint64_t) notes;
    uint64_t drained_ns; /* when the rings were emptied the last time */
    pthread_t thread;
    bool running, no_build_id;
};

/* ---- perf_tap_stream.c ---- */

/* Appends to the stream; what it is short of a whole buffer is written by tap_flush. Errors are noted in s->sum. */
void tap_append(struct tap *s, const void *data, size_t bytes);
void tap_flush(struct tap *s);

/* Takes one record of the kernel, whose header is `h`; the record is changed. */
void tap_take(struct tap *s, uint8_t *record, const struct perf_event_header *h);

/* Appends a sample whose stack was unwound: `arg` is the tap (perf_live_take). */
void tap_put_path(void *arg, const uint8_t *record, size_t size);

#endif
