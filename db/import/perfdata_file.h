/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A perf.data as `perf record` writes it to a file (tools/perf/Documentation/perf.data-file-format.txt of Linux):
 * header, attributes, of the features build-ids and names of events, and where the records are. Nothing in it is
 * believed: what lies outside of the file is damage. Texts point into the mapped file, and are there until
 * perfdata_file_close.
 */
#ifndef HQ_DB_IMPORT_PERFDATA_FILE_H
#define HQ_DB_IMPORT_PERFDATA_FILE_H

#include "common/err.h"
#include "common/file.h"
#include "common/vec.h"
#include "db/perf/event.h"
#include "db/perf/stream.h"

#include <linux/perf_event.h>

struct perfdata_span { /* of the file, in bytes */
    uint64_t offset, size;
};

struct perfdata_header {
    char magic[8];
    uint64_t size, attr_size;
    struct perfdata_span attrs, data, types;
    uint64_t features[4];
};

struct perfdata_event {
    struct perf_event_attr attr; /* what this file has of it; zeros behind */
    VEC(uint64_t) ids;
    const char *name; /* NULL: not known */
};

struct perfdata_build_id {
    const char *path;
    uint8_t id[PERF_BUILD_ID];
};

struct perfdata_file {
    struct file_map map;
    struct perfdata_header header;
    VEC(struct perfdata_event) events; /* at least one */
    VEC(struct perfdata_build_id) build_ids;
};

/* Is it the beginning of such a file, of a machine of this byte order? */
bool perfdata_file_begins(const char *text, size_t len);

/* Maps the file, and reads all but its records. Errors: HQ_DATA. Ended with perfdata_file_close, after an error too. */
struct hq_error *perfdata_file_open(const char *path, struct perfdata_file *out);
void perfdata_file_close(struct perfdata_file *f);

/* The event of this id; where no other one has it, the first. */
struct perfdata_event *perfdata_event_of(struct perfdata_file *f, uint64_t id);

/* How the records of an event are laid out. */
struct perf_layout perfdata_layout(const struct perfdata_event *e);
/* Whether it is one of the kernel's software clocks, which count nanoseconds. */
bool perfdata_is_clock(const struct perfdata_event *e);
/* Whether the chain of a clock's sample is as the kernel makes it: the address of the sample and the first of its
 * chain, which stands behind the mark of a mode, are from the same registers. Other events have theirs from the
 * processor. */
bool perfdata_chain_fits(const struct perfdata_event *of, const struct perf_event *e);

/* The places of the records in the file, in the order of time, and the layout of the first event's. Errors: HQ_DATA.
 * `out` is {0} before, and ended with perf_stream_close, after an error too. */
struct hq_error *perfdata_file_records(const struct perfdata_file *f, struct perf_stream *out);

#endif
