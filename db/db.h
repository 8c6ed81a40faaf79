/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a database: the manual for authors of queries.
 *
 * db_open maps DB/hq.db (or the file itself) and checks the header; nothing is parsed or copied. All
 * pointers below point into the map and live until db_close. The index checks that make them safe on a damaged file are part
 * of db_open where they are O(sections), and of the accessors where they are per record: db_string,
 * db_scope, db_context never read outside the map, whatever the file says.
 *
 * Values. The raw value of metric m at frame f, over all profiles, in base units, is
 * sums[m][f+1] - sums[m][f]; of context c with its subtree: sums[m][last] - sums[m][first] over
 * db_frame_range(c). Multiply by metrics[m].scale for seconds, events or bytes.
 */
#ifndef HQ_DB_DB_H
#define HQ_DB_DB_H

#include "common/err.h"
#include "format/database.h"
#include "format/scope.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db {
    char *path;                             /* of the file */
    const struct hqdb_info *info;           size_t info_count;
    const struct hqdb_metric *metrics;      size_t metric_count;
    const struct hqdb_module *modules;      size_t module_count;
    const struct hqdb_scope *scopes;        size_t scope_count;
    const uint32_t *aliases;                size_t alias_count;
    const struct hqdb_code *codes;          size_t code_count;
    const struct hqdb_frame *frames;        size_t frame_count;
    const struct hqdb_context *contexts;    size_t context_count;
    const struct hqdb_profile *profiles;    size_t profile_count;
    const struct hqdb_loss *losses;         size_t loss_count;
    const int64_t **sums;                   /* [metric][frame_count + 1] */
    const int64_t **counts;                 /* [metric][frame_count + 1] */
    const uint64_t *value_index;            /* [profile_count * metric_count + 1] */
    const struct hqdb_value *values;        size_t value_count;
    const uint64_t *scope_index;            /* [scope_count + 1] */
    const uint32_t *scope_contexts;         size_t scope_context_count;
    struct db_file *file;                   /* private */
};

/* Opens a database directory or file. HQ_DATA with one sentence if it is missing, damaged or too new. */
struct hq_error *db_open(const char *path, struct db **out);
void db_close(struct db *db);

/* A text; "" for an offset outside the section. */
const char *db_string(const struct db *db, uint32_t offset);

/* [first, last) of the frames in the subtree of a context, clipped to the table. */
struct db_range { uint32_t first, last; };
struct db_range db_frame_range(const struct db *db, uint32_t context);

/* Contexts whose scope is `scope`, ascending. */
struct db_list { const uint32_t *data; size_t len; };
struct db_list db_scope_contexts(const struct db *db, uint32_t scope);

/* The values of one profile and metric, ordered by frame. */
struct db_values { const struct hqdb_value *data; size_t len; };
struct db_values db_profile_values(const struct db *db, uint32_t profile, uint32_t metric);

/* Checks every index and checksum in the file: `hq verify`. */
struct hq_error *db_verify(const struct db *db);

/* The trace of a profile. Any instant is found by binary search in the block index, then decoding one block. */
struct db_trace_record { uint64_t time_us; uint32_t frame; uint32_t metric; uint32_t weight; };
struct db_trace_reader;
struct hq_error *db_trace_open(const struct db *db, uint32_t profile, struct db_trace_reader **out);
/* Positions at the last record at or before time_us (or the first one). */
void db_trace_seek(struct db_trace_reader *r, uint64_t time_us);
bool db_trace_next(struct db_trace_reader *r, struct db_trace_record *out);
void db_trace_close(struct db_trace_reader *r);

#endif
