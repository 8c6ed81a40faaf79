/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sampling processes through perf_event_open(2), for `hq record --by=perf`: the software clock cpu-clock, one event for
 * each task and processor (children inherit it), samples with registers and a copy of the stack. A thread empties the
 * kernel's buffers into a stream (format/stream.h).
 */
#ifndef HQ_REPL_RECORD_PERF_TAP_H
#define HQ_REPL_RECORD_PERF_TAP_H

#include "common/err.h"
#include "format/stream.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tap;

struct tap_options {
    uint64_t period_ns;
    uint32_t stack_bytes; /* of each copy, a multiple of 8; 0: frame pointers */
    uint64_t max_bytes;   /* of the stream; of samples beyond, the call paths alone are kept */
    uint64_t stop_ns;     /* CLOCK_MONOTONIC: sampling ends then; 0: it does not by itself */
    const char *vdso;     /* path of a file with its image, as long as the tap is open; NULL: none */
};

/* Why nothing can be sampled here, as a sentence with the remedy; NULL: it can. `kernel`: also what runs in the kernel.
 */
struct hq_error *tap_permitted(bool *kernel); /* perf_attributes.c */

/* The sentence of a process that the kernel keeps from us. */
struct hq_error *tap_refused(pid_t pid); /* perf_attributes.c */

/* Opens the stream; `header` is filled in but for what it knows itself. */
struct hq_error *tap_open(const char *path, const struct hqs_header *header, const struct tap_options *options,
                          struct tap **out);

/* Sampling of a task begins; with `at_exec` when it executes a program. *gone: there is no such task any more. */
struct hq_error *tap_attach(struct tap *s, pid_t task, bool at_exec, bool *gone);

/* Adds records of our own, before tap_run (perf_tap_stream.c). A text is of a process, as `key` and `value`; a mapping
 * is of the bytes [start, end) of its memory, which are those of the file `path` from `offset` on. */
void tap_text(struct tap *s, pid_t pid, const char *key, const char *value);
void tap_thread(struct tap *s, pid_t pid, pid_t tid);
void tap_mapping(struct tap *s, pid_t pid, uint64_t start, uint64_t end, uint64_t offset, const char *path,
                 const uint8_t *build_id, size_t build_id_len);

/* Starts the thread that empties the buffers. */
struct hq_error *tap_run(struct tap *s);

struct tap_sum {
    uint64_t samples, lost, dropped, bytes;
    uint64_t unwound; /* of the samples: their stacks were not kept */
    int error;        /* errno of the write that failed, 0: none */
};

/* Ends sampling, and the stream. Also when it was not run. */
struct tap_sum tap_close(struct tap *s);

#endif
