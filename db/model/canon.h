/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of a database in their final order, as records of format/database.h. Whatever order things came
 * in, the result is the same: texts are sorted, so that their numbers compare as they do; modules are sorted by
 * path and build-id, scopes level by level, codes by module and offset; contexts and frames by fusing; profiles by
 * host, rank, pid, serial and thread. Metrics keep their order.
 */
#ifndef HQ_DB_MODEL_CANON_H
#define HQ_DB_MODEL_CANON_H

#include "common/err.h"
#include "db/fuse.h"
#include "db/model/writer.h"

struct model;

struct canon {
    char *strings;
    size_t string_bytes;
    struct hqdb_info *info;
    size_t info_count;
    struct hqdb_metric *metrics;
    size_t metric_count;
    struct hqdb_module *modules;
    size_t module_count;
    struct hqdb_scope *scopes;
    size_t scope_count;
    uint32_t *aliases;
    size_t alias_count;
    struct hqdb_code *codes;
    size_t code_count;
    struct hqdb_frame *frames;
    size_t frame_count;
    struct hqdb_context *contexts;
    size_t context_count;
    struct hqdb_profile *profiles;
    size_t profile_count;
    bool ranked; /* a profile has a rank: the statistics leave out those without */
    struct hqdb_loss *losses;
    struct hqdb_region *regions;
    size_t region_count;
    struct hqdb_message *messages;
    size_t message_count;
    struct hqdb_queue *queues;
    size_t queue_count;
    struct hqdb_command *commands;
    size_t command_count;
    struct hqdb_host_wait *host_waits;
    size_t host_wait_count;
    size_t loss_count;
    uint64_t *scope_index;
    uint32_t *scope_contexts;
    uint32_t *frame_context; /* [frames] */
    uint32_t *frame_of;      /* model's frame -> frame here */
    uint32_t *module_of;     /* model's module -> module here */
    uint32_t *profile_of;    /* model's profile -> profile here */
    uint32_t *text_of;       /* model's text -> text here */
};

/* Orders all of the model. HQ_DATA: its names take more than 4 GiB. `out` is ended with
 * canon_deinit, after an error too. */
struct hq_error *canon_make(const struct model *m, struct canon *out);
void canon_deinit(struct canon *c);

/* A step of canon_make: when profiles, frames and texts have their places (canon_records.c). */
void canon_place_records(const struct model *m, struct canon *c);

/* Writes all tables but those of values and traces. */
void canon_write(const struct canon *c, struct writer *w);

#endif
