/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a pprof profile (profile.proto of github.com/google/pprof), by index; ids lead to them through maps. */
#ifndef HQ_DB_IMPORT_PPROF_H
#define HQ_DB_IMPORT_PPROF_H

#include "common/map.h"
#include "common/vec.h"
#include "db/import/wire.h"

/* Fields of the messages that are used here. */
/* clang-format off */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING,
       PROFILE_DROP_FRAMES, PROFILE_KEEP_FRAMES, PROFILE_TIME, PROFILE_DURATION, PROFILE_PERIOD_TYPE, PROFILE_PERIOD,
       PROFILE_COMMENT, PROFILE_DEFAULT_TYPE, PROFILE_DOC_URL };
/* clang-format on */
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STRING, LABEL_NUMBER };

struct pprof_text {
    const char *s;
    size_t len;
};
struct pprof_type {
    uint64_t type, unit;
};
struct pprof_function {
    uint64_t name, file, line;
};
struct pprof_mapping {
    uint64_t start, limit, offset, file, build_id;
};
struct pprof_line {
    uint64_t function;
    uint32_t line;
};
struct pprof_location {
    uint64_t mapping, address;
    uint32_t first_line, line_count; /* in lines, innermost first */
};

struct pprof {
    struct cursor all;
    VEC(struct pprof_text) strings;
    VEC(struct pprof_type) types;
    VEC(struct pprof_function) functions;
    VEC(struct pprof_mapping) mappings;
    VEC(struct pprof_location) locations;
    VEC(struct pprof_line) lines;
    struct map function_of, mapping_of, location_of; /* id -> index */
    struct pprof_type period_type;
    uint64_t period, time_ns, duration_ns, default_type;
};

/* Reads all but the samples. The bytes must live as long as the tables. */
struct hq_error *pprof_tables(struct pprof *p, const char *path, const void *data, size_t size); /* pprof_tables.c */
void pprof_deinit(struct pprof *p);
/* "" for a number out of range. Not NUL-terminated. */
struct pprof_text pprof_string(const struct pprof *p, uint64_t number);

#endif
