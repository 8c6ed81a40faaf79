/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a stream of `hq record --by=perf` (format/stream.h): its records in the order of time. */
#ifndef HQ_DB_PERF_STREAM_H
#define HQ_DB_PERF_STREAM_H

#include "common/err.h"
#include "common/file.h"
#include "common/vec.h"
#include "db/perf/event.h"
#include "format/stream.h"
#include <stdio.h>

struct perf_stream_at {
    uint64_t time, offset;
};

struct perf_stream_text {
    uint32_t pid;
    const char *key, *value; /* in the file */
};

struct perf_stream {
    struct file_map map;
    struct hqs_header header;
    struct perf_layout layout;
    VEC(struct perf_stream_at) records; /* of the kernel, by time */
    VEC(struct perf_stream_text) texts;
};

/* HQ_DATA if it is no stream, or one of another version. */
struct hq_error *perf_stream_open(const char *path, struct perf_stream *out);
/* Puts records in the order of their time. */
void perf_stream_sort(struct perf_stream *s);
/* Also of one that could not be opened. */
void perf_stream_close(struct perf_stream *s);

/* False: it is damaged. */
bool perf_stream_record(const struct perf_stream *s, size_t i, struct perf_event *out);

/* The first text of that key, NULL if there is none. */
const char *perf_stream_text(const struct perf_stream *s, uint32_t pid, const char *key);

/* Its size, without reading it. HQ_DATA if it is no stream. */
struct perf_stream_state {
    uint64_t bytes;
    struct hqs_header header;
};
struct hq_error *perf_stream_look(const char *path, struct perf_stream_state *out);

/*
 * Of symbols as /proc/kallsyms lists them, those that hold one of the addresses (sorted), in the form of HQM_NAMES;
 * each ends where the next one begins. Address 0 stands for the kernel as a whole.
 */
void perf_stream_write_names(FILE *symbols, const uint64_t *addresses, size_t count, FILE *out);

#endif
