/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a database: the manual for authors of queries.
 *
 * db_open maps DB/hq.db (or the file itself) and checks the header and the section table; nothing is parsed or
 * copied, so it costs the same for any size. All pointers below point into the map and live until db_close.
 *
 * Damaged files. An array has exactly as many elements as its count says, whatever the file says. What the elements
 * hold is not believed: an index found in a record is checked before it is used, by db_scope, db_context, db_code and
 * the like, which give the root for a number that is out of range. db_string and the cursors never read outside the
 * map. Walks along `parent` end because a parent that is not smaller counts as none (db_parent_context,
 * db_parent_frame).
 *
 * The calling context tree of a query, and all that is asked of it, is query/tree/tree.h; here is what db/ itself
 * needs.
 *
 * Values. The raw value of metric m at frame f, over all profiles, in base units, is
 * sums[m][f+1] - sums[m][f]; of context c with its subtree: sums[m][last] - sums[m][first] over
 * tree_range(c). Multiply by metrics[m].scale for seconds, events or bytes.
 */
#ifndef HQ_DB_DB_H
#define HQ_DB_DB_H

#include "common/err.h"
#include "common/file.h"
#include "format/database.h"
#include "format/known.h"
#include "format/scope.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db {
    char *path; /* of the file */
    const struct hqdb_info *info;
    size_t info_count;
    const struct hqdb_metric *metrics;
    size_t metric_count;
    const struct hqdb_module *modules;
    size_t module_count;
    const struct hqdb_scope *scopes;
    size_t scope_count; /* at least 1 */
    const uint32_t *aliases;
    size_t alias_count;
    const struct hqdb_code *codes;
    size_t code_count;
    const struct hqdb_frame *frames;
    size_t frame_count;
    const struct hqdb_context *contexts;
    size_t context_count; /* at least 1 */
    const struct hqdb_profile *profiles;
    size_t profile_count;
    const struct hqdb_region *regions; /* frames may be out of range: db_frame_context */
    size_t region_count;
    const struct hqdb_message *messages; /* frames and profiles may be out of range */
    size_t message_count;
    const struct hqdb_queue *queues; /* by profile; profiles may be out of range */
    size_t queue_count;
    const struct hqdb_command *commands; /* by profile and start; frames and profiles may be out of range */
    size_t command_count;
    const struct hqdb_host_wait *host_waits; /* by profile and time; profiles may be out of range */
    size_t host_wait_count;
    const struct hqdb_loss *losses;
    size_t loss_count;
    const struct hqdb_source *sources;
    size_t source_count;
    const int64_t **sums;        /* [metric][frame_count + 1] */
    const int64_t **counts;      /* [metric][frame_count + 1] */
    const uint64_t *scope_index; /* [scope_count + 1]; use tree_instances */
    const uint32_t *scope_contexts;
    size_t scope_context_count;
    struct db_file *file; /* private */
};

/* Opens a database directory or file. HQ_DATA with one sentence if it is missing, damaged or too new. */
struct hq_error *db_open(const char *path, struct db **out);
void db_close(struct db *db);
/* How its file has changed since; after FILE_WRITTEN it is to be asked nothing more. */
enum file_change db_change(const struct db *db);

/* A text; "" for an offset outside the section. */
const char *db_string(const struct db *db, uint32_t offset);

/* Whether any procedure has a name for the linker (hqdb_scope.linkage): imports, databases of hq 0.1 and code without
 * symbols have none. */
bool db_knows_linkage(const struct db *db);

/* Records by number; the root (codes, frames: NULL) for a number out of range. */
const struct hqdb_scope *db_scope(const struct db *db, uint32_t scope);
const struct hqdb_context *db_context(const struct db *db, uint32_t context);
const struct hqdb_code *db_code(const struct db *db, uint32_t code);
/* The parent; HQDB_NONE at the top and for a damaged one. */
uint32_t db_parent_context(const struct db *db, uint32_t context);
uint32_t db_parent_frame(const struct db *db, uint32_t frame);
/* The frame that called it: the parent, past what stands for the entry into a runtime. */
uint32_t db_caller_frame(const struct db *db, uint32_t frame);

/* Frames [first, last). */
struct db_range {
    uint32_t first, last;
};
/* The context that a frame falls in (LINE, THREAD or PARTIAL), by binary search. */
uint32_t db_frame_context(const struct db *db, uint32_t frame);

/* Numbers in the map, such as the contexts of a scope. One may be out of range if the file is damaged. */
struct db_list {
    const uint32_t *data;
    size_t len;
};

/*
 * Values of single profiles. They are stored coded; a cursor decodes a few hundred million a second.
 *     struct db_values v = db_profile_values(db, profile, metric);
 *     struct db_value x;
 *     while (db_value_next(&v, &x)) use(x.frame, x.sum, x.count);
 * Damage ends a cursor early. Only values that are not zero are there, each frame at most once.
 */
struct db_value {
    uint32_t frame, profile;
    int64_t sum;    /* base units */
    uint64_t count; /* samples, or calls for an exact metric */
};
struct db_values { /* private */
    const struct db *db;
    const uint8_t *at, *end;
    const uint64_t *index; /* by frame: where the next frame starts */
    const uint8_t *bytes;
    uint64_t size, period;
    uint32_t frame, last_frame, profile, metric;
    bool by_frame;
};
/* All values of one profile and metric, ordered by frame (in a derived database, fuse.h: unordered). */
struct db_values db_profile_values(const struct db *db, uint32_t profile, uint32_t metric); /* values.c */
/* All values of the frames in a range, of every profile: ordered by frame, then profile. For one context in all
 * profiles. */
struct db_values db_frame_values(const struct db *db, struct db_range frames, uint32_t metric);
bool db_value_next(struct db_values *v, struct db_value *out);

/* Total of one profile and metric, without reading its values. */
struct db_total {
    int64_t sum;
    uint64_t count;
};
struct db_total db_profile_total(const struct db *db, uint32_t profile, uint32_t metric);

/*
 * Statistics of the inclusive value over the default selection of profiles (all; if any has a rank, those with
 * one); NULL if the database holds none (derived databases): compute them from the values then. Those that the sums of
 * the only profile say are made in `room`.
 * db_statistics_profiles: over how many profiles.
 * scope: PROCEDURE, INLINE, LOOP, FILE, MODULE: of its exposed instances.
 */
const struct hqdb_statistics *db_context_statistics(const struct db *db, uint32_t metric, uint32_t context,
                                                    struct hqdb_statistics *room);
const struct hqdb_statistics *db_scope_statistics(const struct db *db, uint32_t metric, uint32_t scope);
size_t db_statistics_profiles(const struct db *db, uint32_t metric);

/* Whether a profile is a queue of a device; whether a metric is one that only these have. */
static inline bool db_is_queue(const struct db *db, uint32_t profile)
{
    return db->profiles[profile].thread & HQDB_QUEUE;
}
static inline bool db_is_of_devices(const struct db *db, uint32_t metric)
{
    return metric < db->metric_count && db->metrics[metric].flags & HQDB_METRIC_DEVICE;
}

/* The text of a source file kept in the database, NULL if it is not; not NUL-terminated. `path` is a string offset. */
const char *db_source(const struct db *db, uint32_t path, size_t *bytes);

/*
 * The names of all procedures of a load module, with or without samples: what a pattern that matches no row may mean
 * all the same. KNOWN_NOT for imports, databases of hq 0.1, and modules whose file could not be read. struct db_known
 * *k = db_known_open(db, module); for (const struct db_known_name *n; (n = db_known_next(k));) use(n->name);
 *     db_known_close(k);
 * Sorted by linkage name, each once. A walk costs 1 to 3 us a name, most of it for demangling. Damage ends it early.
 */
struct db_known_name {   /* valid until the next one */
    const char *name;    /* as it is shown */
    const char *linkage; /* as the linker has it; the same text where that is no other */
};
struct db_known;
enum known_names db_known_state(const struct db *db, uint32_t module); /* known.c */
struct db_known *db_known_open(const struct db *db, uint32_t module);  /* never NULL */
const struct db_known_name *db_known_next(struct db_known *k);
void db_known_close(struct db_known *k);

/* The sections of the file, for `info` and `hq verify`. */
struct db_section {
    const char *name;
    uint32_t index;
    uint64_t bytes, count;
};
size_t db_section_count(const struct db *db);
struct db_section db_section(const struct db *db, size_t i);
uint64_t db_sources_key(const struct db *db);
uint64_t db_files_key(const struct db *db);

/*
 * Whether what was read of the file so far is as it was written: the tables that every question reads, and of values,
 * traces, statistics and texts those that an accessor has given out since it was opened. HQ_DATA names the first
 * section that is not; asking again costs nothing. Sections of more than 64 MB are left to db_verify.
 */
struct hq_error *db_damage(const struct db *db); /* intact.c */
/* For who reads no marks, whatever the questions read that were asked before. */
struct hq_error *db_damage_beside_marks(const struct db *db);

/* Checks every checksum, index and number in the file: `hq verify`. */
struct hq_error *db_verify(const struct db *db); /* verify.c */

/* When a profile entered and left parallel regions and phases, exactly, in order of time; both by its own clock. */
struct db_mark {
    uint64_t time_us;
    uint32_t frame; /* of the region or phase */
    bool leaves;
};
struct db_marks { /* all private */
    const struct db *db;
    const uint8_t *at, *end;
    uint64_t left;
    struct db_mark last;
};
/* None where none were made. */
struct db_marks db_marks_of(const struct db *db, uint32_t profile); /* marks.c */
bool db_mark_next(struct db_marks *m, struct db_mark *out);

/* By how much a profile's counted metrics (HQDB_METRIC_COUNTED) had grown when they were looked at, in order of time,
 * by its own clock: behind each mark and each sample of a clock; what has no record there had not grown. */
struct db_growth {
    uint64_t time_us;
    uint64_t amount; /* base units */
    uint32_t metric;
};
struct db_growths { /* all private */
    struct db_marks marks;
    const uint8_t *at, *end;
    uint64_t left;
    struct db_growth last;
};
/* None where nothing was counted. */
struct db_growths db_growths_of(const struct db *db, uint32_t profile);
bool db_growth_next(struct db_growths *g, struct db_growth *out);

/* The trace of a profile, in the order of time. Any instant is found by binary search in the block index, then decoding
 * one block. The reader ends with db_trace_close, before the database does. */
struct db_trace_record {
    uint64_t time_us; /* since the start_realtime_ns of its profile */
    uint32_t frame;
    uint32_t metric;
    uint32_t weight; /* periods of the metric; 0: a pause, or an end (format/database.h) */
};
struct db_trace_reader;
struct hq_error *db_trace_open(const struct db *db, uint32_t profile, struct db_trace_reader **out); /* trace.c */
/* How many records there are, and the first and last time; false if there are none. */
bool db_trace_extent(const struct db_trace_reader *r, uint64_t *records, uint64_t *first_us, uint64_t *last_us);
/* The next record will be the last one at or before time_us, of several at one instant the last; else the first one. */
void db_trace_seek(struct db_trace_reader *r, uint64_t time_us);
bool db_trace_next(struct db_trace_reader *r, struct db_trace_record *out);
void db_trace_close(struct db_trace_reader *r);

#endif
