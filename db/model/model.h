/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contents of a database while it is made: filled by the build from measurements, by every importer, and by
 * the test fixtures; written by model_write. Things are added in any order; model_write puts them in the canonical
 * order of format/database.h, so the same contents give the same file, byte for byte.
 *
 * Ids returned are dense numbers valid within the model. Adding the same thing twice (same module,
 * scope, code, frame) returns the same id. Strings are copied; a NULL string is unknown. Fields mean what those of the
 * same name in format/database.h do. Not thread-safe; ends the process when memory ends (common/mem.h).
 */
#ifndef HQ_DB_MODEL_MODEL_H
#define HQ_DB_MODEL_MODEL_H

#include "common/err.h"
#include "format/database.h"
#include "format/scope.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

struct model *model_create(void);
void model_destroy(struct model *m);

/* A fact that `info` shows, in the order in which they are added. */
void model_info(struct model *m, const char *key, const char *value);
/* Samples that were lost, or (partial) whose call path is; counts of one reason add up. */
void model_loss(struct model *m, const char *reason, bool partial, uint64_t count);

struct model_metric {
    const char *event; /* CPUTIME; the metric's name is made from it: lower case, odd characters become _ */
    const char *description;
    uint16_t dimension, flags; /* enum hqm_dimension, HQDB_METRIC_* */
    uint64_t period;           /* base units that a sample stands for; 0 exact or unknown */
    double scale;              /* value in seconds, events or bytes = sum * scale */
};
uint32_t model_metric(struct model *m, const struct model_metric *metric);

/* build_id: hexadecimal, "" none. flags: HQDB_MODULE_*. note: what could not be read of it; NULL nothing. */
uint32_t model_module(struct model *m, const char *path, const char *build_id, uint32_t flags, const char *note);

/* Sets the names of the procedures of a module that are known without samples. The packed names are copied. */
struct known;
void model_known(struct model *m, uint32_t module, const struct known *known);

#define MODEL_ROOT 0u /* the root scope */
struct model_scope {
    enum scope_kind kind;
    uint32_t parent; /* scope: MODEL_ROOT for module, thread and partial roots */
    const char *name;
    const char *linkage; /* procedure, inline */
    const char *file;
    uint32_t line;
    uint32_t module; /* HQDB_NONE */
    const char *call_file;
    uint32_t call_line;
    uint32_t ordinal;
    uint32_t basis; /* loop */
    uint32_t role;  /* procedure, region */
    uint64_t address;
    const char *const *aliases; /* NULL-terminated or NULL */
};
uint32_t model_scope(struct model *m, const struct model_scope *scope);
uint32_t model_module_scope(struct model *m, uint32_t module); /* the MODULE scope of a module */

/* An address that was sampled or called from, in the LINE scopes of both structures; module HQDB_NONE: in none. */
uint32_t model_code(struct model *m, uint32_t module, uint64_t offset, uint32_t raw, uint32_t normal);
/* The address of `code` as one inside of a runtime: its frames fall into the contexts of their parents, unless `set
 * internals on`. */
uint32_t model_code_inside(struct model *m, uint32_t code);
/* The code of the scope that stands for the entry into a runtime, a PROCEDURE: its frames are skipped with `set
 * internals on`. */
uint32_t model_code_entry(struct model *m, uint32_t scope);

/* A frame below `parent` (HQDB_NONE: at the top). A frame at the top has no call site. */
uint32_t model_frame(struct model *m, uint32_t parent, uint32_t code);
/* A frame at the top that is a THREAD or PARTIAL root named `name`. */
uint32_t model_root_frame(struct model *m, enum scope_kind kind, const char *name);

struct model_profile {
    int32_t rank; /* -1 none */
    const char *host;
    uint32_t pid, tid, thread, serial, state;
    const char *command;
    uint32_t creator_profile, creator_frame;      /* HQDB_NONE unknown */
    uint64_t start_realtime_ns, start_us, end_us; /* microseconds count from start_realtime_ns */
};
uint32_t model_profile(struct model *m, const struct model_profile *profile);

/* Adds the counts of a parallel region: frame and profile as the model numbers them. */
void model_region(struct model *m, const struct hqdb_region *region);

/* Adds the counts of messages, likewise; `group` is the ranks of a group that all receive them, as "0-3,7", "" if it is
 * one peer. */
void model_message(struct model *m, const struct hqdb_message *message, const char *group);

/* Adds what is known of a profile that is a queue of the named device; a command of a queue; a wait of the host for
 * devices. Frames and profiles are as the model numbers them. */
void model_queue(struct model *m, const struct hqdb_queue *queue, const char *device);
void model_command(struct model *m, const struct hqdb_command *command);
void model_host_wait(struct model *m, const struct hqdb_host_wait *wait);

/* Adds to the value of a frame in a profile: sum in base units, count of samples (of calls, for an exact metric). */
void model_value(struct model *m, uint32_t profile, uint32_t metric, uint32_t frame, int64_t sum, uint64_t count);

/* Adds a trace record, weight in periods; times of a profile must not decrease. */
void model_trace(struct model *m, uint32_t profile, uint64_t time_us, uint32_t frame, uint32_t metric, uint32_t weight);

/* Adds a mark of a region or phase, by its frame; times of a profile must not decrease. */
void model_mark(struct model *m, uint32_t profile, uint64_t time_us, uint32_t frame, bool leaves);

/* Adds by how much a counted metric (HQDB_METRIC_COUNTED) had grown when it was looked at; likewise. */
void model_growth(struct model *m, uint32_t profile, uint64_t time_us, uint32_t metric, uint64_t amount);

/* Keeps the text of a source file; `path` as in scopes. */
void model_source(struct model *m, const char *path, const char *text, size_t bytes);
/* Like model_source, unless the model has a text of this path already. */
void model_source_once(struct model *m, const char *path, const char *text, size_t bytes);

/* Writes the database file atomically. sources_key identifies the inputs (0: none). */
struct hq_error *model_write(struct model *m, const char *path, uint64_t sources_key); /* model_write.c */

#endif
