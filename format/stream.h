/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream of `hq record --by=perf`: what the kernel wrote, for db/perf to unwind. DB/measurements/HOST-PID.perf is
 * this header and then records as perf_event_open(2) describes them, one after the other, each begun by a struct
 * perf_event_header and a multiple of 8 bytes long. They stand in the order in which buffers were emptied: a reader
 * sorts them by time. Samples have what `sample_type` says; all other records end with pid, tid and time
 * (sample_id_all).
 *
 * Records of the types from HQS_TEXT on are not the kernel's and have no such end. A reader skips what it does not
 * know. The end may be cut off: a record that reaches beyond the file is none.
 */
#ifndef HQ_FORMAT_STREAM_H
#define HQ_FORMAT_STREAM_H

#include <assert.h>
#include <stdint.h>

#define HQS_SUFFIX ".perf"
#define HQS_MAGIC  "HQPERF\r\n"
/* Beside it, when it was unwound: the text `VERSION BYTES` of what of the stream is in the measurement files; behind it
 * the version that has left it so, where one has. */
#define HQS_DONE   ".unwound"
/* Names of the kernel's procedures that were sampled, as in HQM_NAMES: kernel-ID.map. The ID stands for the host and
 * its start (text `kernel`), for addresses differ; it is the build-id of the module "[kernel]". */
#define HQS_KERNEL "kernel-%s.map"
enum { HQS_MAJOR = 1, HQS_MINOR = 1 };

enum hqs_state { HQS_RUNNING = 1, HQS_ENDED = 2 };

struct hqs_header {
    char magic[8];
    uint16_t major, minor;
    uint32_t header_bytes; /* where the records begin */
    uint32_t state;        /* enum hqs_state; still RUNNING after hq is gone: it was killed */
    int32_t rank;          /* -1: not started by a parallel launcher */
    uint64_t launch;       /* as in struct hqm_header */
    uint64_t start_realtime_ns;
    uint64_t start_monotonic_ns; /* times of records are CLOCK_MONOTONIC */
    uint64_t end_monotonic_ns;   /* 0: not ended */
    uint64_t pid_namespace;
    uint64_t period_ns;   /* of CPU time between two samples of a task */
    uint64_t sample_type; /* PERF_SAMPLE_* */
    uint64_t registers;   /* sample_regs_user: a bit for each in the kernel's order (asm/perf_regs.h) */
    uint64_t stack_bytes; /* that were asked for; 0: frame pointers */
    uint64_t kernel;      /* 1: samples in the kernel, too; 0: not permitted */
    uint64_t dropped;     /* samples left out for want of space, and before minor version 1 for --max-size */
    uint32_t pid;         /* of the program, or what -p named */
    uint32_t attached;    /* 1: it ran already */
    uint64_t unwound;     /* since minor version 1: samples whose copy was unwound at once (HQS_PARTIAL) */
};
static_assert(sizeof(struct hqs_header) == 128, "layout");

/* pid, then key and value as texts that end with NUL: facts as in struct hqm_info, of that process from now on. */
enum { HQS_TEXT = 0x48510001 };

/*
 * Since minor version 1, of samples beyond --max-size: no copy of the stack and no registers (both of size 0), and the
 * chain holds the callers that were found by it, each return address as it is. If the path is not whole, the chain ends
 * with this word, which stands where the kernel has its marks (PERF_CONTEXT_*); the reason is an enum hqm_partial.
 */
#define HQS_PARTIAL(reason) ((uint64_t)-3072 - (uint64_t)(reason))

#endif
