/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of struct model, for the files that fill it (model.c) and put it in order (canon.c). Texts are numbers in
 * `strings`. */
#ifndef HQ_DB_MODEL_MODEL_DATA_H
#define HQ_DB_MODEL_MODEL_DATA_H

#include "common/intern.h"
#include "common/map.h"
#include "common/vec.h"
#include "db/model/model.h"
#include "db/trace_code.h"

struct model_value_entry {
    uint32_t profile, metric, frame;
    int64_t sum;
    uint64_t count;
};

/* The trace of a profile as one block of coded records; frames have the model's numbers. */
struct model_trace {
    struct bytes coded;
    struct db_trace_record last;
};

struct model_source {
    uint32_t path;
    size_t offset, bytes; /* in source_text */
};

struct model {
    struct intern strings;
    VEC(struct hqdb_info) info;
    VEC(struct hqdb_loss) losses;
    VEC(struct hqdb_region) regions;
    VEC(struct hqdb_message) messages;
    VEC(struct hqdb_queue) queues;
    VEC(struct hqdb_command) commands;
    VEC(struct hqdb_host_wait) host_waits;
    VEC(struct hqdb_metric) metrics;
    VEC(struct hqdb_module) modules;
    VEC(struct hqdb_scope) scopes;
    VEC(uint32_t) aliases; /* of scopes: first_alias, alias_count */
    VEC(struct hqdb_code) codes;
    VEC(struct hqdb_frame) frames;
    VEC(struct hqdb_profile) profiles;
    VEC(struct model_value_entry) values;
    VEC(struct model_trace) traces; /* [profile], as far as there are any */
    VEC(struct mark_list) marks;    /* likewise */
    VEC(struct growth_list) growth; /* likewise */
    VEC(struct model_source) sources;
    VEC(char) source_text;
    VEC(struct hqdb_known) known; /* offset: in known_text */
    struct bytes known_text;
    struct keymap module_keys, scope_keys, code_keys, frame_keys;
};

struct canon;
struct writer;
/* Writes the sections of source files, in which the model keeps the texts itself. */
void model_write_sources(const struct model *m, const struct canon *c, struct writer *w); /* model_write.c */
/* Those of the names of procedures, by module; none if there are none. */
void model_write_known(const struct model *m, const struct canon *c, struct writer *w);

#endif
