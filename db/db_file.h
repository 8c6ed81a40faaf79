/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of an open database, for the files that read it: db.c, values.c, trace.c, verify.c, derive.c. */
#ifndef HQ_DB_DB_FILE_H
#define HQ_DB_DB_FILE_H

#include "common/arena.h"
#include "common/file.h"
#include "db/db.h"
#include "db/name_list.h"

/* Bytes of a section that is coded. */
struct db_bytes {
    const uint8_t *data;
    size_t len;
};

/* Sections that only some questions read. */
enum db_part { DB_TABLES, DB_VALUES, DB_FRAME_VALUES, DB_STATISTICS, DB_TRACE, DB_SOURCES, DB_KNOWN, DB_PARTS };

struct db_file {
    struct file_map map;
    struct hqdb_header header;
    const struct hqdb_section *sections;
    size_t section_count;
    struct db_bytes strings, values, trace, marks, growth, source_text;
    const struct hqdb_value_index *value_index; /* [profiles * metrics + 1] */
    const struct hqdb_trace_block *trace_index;
    size_t trace_block_count;
    const struct hqdb_coded_index *mark_index, *growth_index;
    size_t mark_index_count;
    size_t growth_index_count;
    const uint64_t **frame_value_index;              /* [metric][frames + 1], NULL: none */
    struct db_bytes *frame_values;                   /* [metric] */
    const struct hqdb_statistics **statistics;       /* [metric][contexts], NULL: none */
    const struct hqdb_statistics **scope_statistics; /* [metric][scopes], NULL: none */
    struct db_names names[HQDB_NAMES_SORTS];         /* data is NULL: none */
    const struct hqdb_known *known;
    size_t known_count;
    struct db_bytes known_text;
    struct arena arena;  /* what is not in the map */
    bool used[DB_PARTS]; /* given out by an accessor */
    uint8_t *intact;     /* [section] 1: its checksum is right; NULL: none was looked at yet (intact.c) */

    /* Of a derived database (derive.c). */
    const struct db *base;      /* NULL: none */
    const uint32_t *frame_at;   /* own frame -> base's */
    const uint32_t *frame_rank; /* base's frame -> own */
};

/* The database whose file holds the values, traces and names: a derived one reads its base's. */
static inline const struct db *db_stored(const struct db *db)
{
    return db->file->base ? db->file->base : db;
}

/* Of a section, as `info` and messages have it; "unknown" for a tag of a later version. */
const char *db_tag_name(uint32_t tag);

#endif
