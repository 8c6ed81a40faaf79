/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/db.h"

#include "common/hash.h"
#include "common/mem.h"
#include "db/db_file.h"
#include <string.h>

#define MAX_METRICS 4096u /* a damaged count must not cost memory and time */

/* clang-format off */
static const char *const tag_names[] = {
    [HQDB_STRINGS] = "strings", [HQDB_INFO] = "info", [HQDB_METRICS] = "metrics", [HQDB_MODULES] = "modules",
    [HQDB_SCOPES] = "scopes", [HQDB_ALIASES] = "aliases", [HQDB_CODES] = "codes", [HQDB_FRAMES] = "frames",
    [HQDB_CONTEXTS] = "contexts", [HQDB_PROFILES] = "profiles", [HQDB_SUMS] = "sums", [HQDB_COUNTS] = "counts",
    [HQDB_VALUE_INDEX] = "value index", [HQDB_VALUES] = "values", [HQDB_SCOPE_INDEX] = "scope index",
    [HQDB_SCOPE_CONTEXTS] = "scope contexts", [HQDB_LOSSES] = "losses", [HQDB_TRACE_INDEX] = "trace index",
    [HQDB_TRACE] = "trace", [HQDB_SOURCES] = "sources", [HQDB_STATISTICS] = "statistics",
    [HQDB_SCOPE_STATISTICS] = "scope statistics", [HQDB_FRAME_VALUE_INDEX] = "index of values by frame",
    [HQDB_FRAME_VALUES] = "values by frame", [HQDB_SOURCE_TEXT] = "source text",
    [HQDB_NAMES] = "names", [HQDB_KNOWN] = "known procedures", [HQDB_KNOWN_TEXT] = "names of known procedures", [HQDB_REGIONS] = "regions",
    [HQDB_MARK_INDEX] = "mark index", [HQDB_MARKS] = "marks",
    [HQDB_MESSAGES] = "messages",
    [HQDB_QUEUES] = "queues",
    [HQDB_COMMANDS] = "commands",
    [HQDB_HOST_WAITS] = "host waits",
    [HQDB_GROWTH_INDEX] = "index of counted growth", [HQDB_GROWTH] = "counted growth",
};
/* clang-format on */

const char *db_tag_name(uint32_t tag)
{
    return tag < sizeof tag_names / sizeof *tag_names && tag_names[tag] ? tag_names[tag] : "unknown";
}

static struct hq_error *damaged(const struct db *db, const char *what)
{
    return hq_error_new(HQ_DATA, "%s: the database is damaged (%s); rebuild it with `hq build`", db->path, what);
}

/* ---- header and section table ---- */

static struct hq_error *check_header(struct db *db)
{
    struct db_file *f = db->file;
    struct hqdb_header *h = &f->header;

    if (f->map.size < sizeof *h || memcmp(f->map.data, HQDB_MAGIC, sizeof h->magic))
        return hq_error_new(HQ_DATA, "%s: this is not an hq database", db->path);
    memcpy(h, f->map.data, sizeof *h);
    if (h->major != HQDB_MAJOR)
        return hq_error_new(
            HQ_DATA,
            "%s: the database has format version %u and this hq reads %u; rebuild it with `hq build` or use that hq",
            db->path, h->major, HQDB_MAJOR);
    if (h->file_size != f->map.size)
        return damaged(db, "its length is not what its header says");
    if (h->section_table > f->map.size || h->section_table % 8 ||
        h->section_count > (f->map.size - h->section_table) / sizeof(struct hqdb_section))
        return damaged(db, "its section table lies outside");
    f->sections = (const struct hqdb_section *)(f->map.data + h->section_table);
    f->section_count = h->section_count;
    if (hash_bytes(f->sections, f->section_count * sizeof *f->sections, 0) != h->table_checksum)
        return damaged(db, "its section table has a wrong checksum");
    return NULL;
}

static struct hq_error *check_sections(const struct db *db)
{
    const struct db_file *f = db->file;

    for (size_t i = 0; i < f->section_count; i++) {
        const struct hqdb_section *s = &f->sections[i];

        if (s->offset % 8 || s->offset > f->map.size || s->bytes > f->map.size - s->offset)
            return damaged(db, "a section lies outside");
        if (!s->record_size || s->count != s->bytes / s->record_size)
            return damaged(db, "a section has a wrong count");
    }
    return NULL;
}

/* ---- tables ---- */

static const struct hqdb_section *find_section(const struct db_file *f, uint32_t tag, uint32_t index)
{
    for (size_t i = 0; i < f->section_count; i++) {
        if (f->sections[i].tag == tag && f->sections[i].index == index)
            return &f->sections[i];
    }
    return NULL;
}

/* The size of records that have grown since: what they lack is 0. */
static size_t first_size(uint32_t tag, size_t size)
{
    return tag == HQDB_REGIONS ? offsetof(struct hqdb_region, threads) : size;
}

/* Records of a later minor version are longer, of an earlier one shorter: their known parts are copied together. */
static const void *resize(struct db_file *f, const struct hqdb_section *s, size_t size)
{
    char *copy = arena_array(&f->arena, s->count, size);

    for (size_t i = 0; i < s->count; i++)
        memcpy(copy + i * size, f->map.data + s->offset + i * s->record_size,
               s->record_size < size ? s->record_size : size);
    return copy;
}

/* A missing table is empty: *data is never NULL. */
static struct hq_error *load(struct db *db, uint32_t tag, uint32_t index, size_t size, const void *data, size_t *count)
{
    struct db_file *f = db->file;
    const struct hqdb_section *s = find_section(f, tag, index);
    const void *p = f->map.data;

    *count = 0;
    if (s) {
        if (s->record_size < first_size(tag, size))
            return damaged(db, "a section has records that are too short");
        p = s->record_size == size ? f->map.data + s->offset : resize(f, s, size);
        *count = s->count;
        if (*count >= UINT32_MAX && size > 1)
            return damaged(db, "a section has too many records");
    }
    memcpy((void *)data, &p, sizeof p);
    return NULL;
}

#define LOAD(db, tag, field, n) load(db, tag, 0, sizeof *(field), &(field), &(n))

static struct hq_error *load_bytes(struct db *db, uint32_t tag, uint32_t index, struct db_bytes *out)
{
    return load(db, tag, index, 1, &out->data, &out->len);
}

/* A table that must have exactly `want` records; *data is NULL if it is missing. */
static struct hq_error *load_exact(struct db *db, uint32_t tag, uint32_t index, size_t size, const void *data,
                                   size_t want)
{
    const void *none = NULL;
    size_t count;

    HQ_TRY(load(db, tag, index, size, data, &count));
    if (!find_section(db->file, tag, index))
        memcpy((void *)data, &none, sizeof none);
    else if (count != want)
        return damaged(db, "two sections do not fit together");
    return NULL;
}

static struct hq_error *load_names(struct db *db)
{
    for (enum hqdb_names sort = 0; sort < HQDB_NAMES_SORTS; sort++) {
        struct db_names *n = &db->file->names[sort];

        if (find_section(db->file, HQDB_NAMES, sort))
            HQ_TRY(load(db, HQDB_NAMES, sort, sizeof *n->data, &n->data, &n->len));
    }
    return NULL;
}

static struct hq_error *load_tables(struct db *db)
{
    struct db_file *f = db->file;

    HQ_TRY(load_bytes(db, HQDB_STRINGS, 0, &f->strings));
    if (f->strings.len && f->strings.data[f->strings.len - 1])
        return damaged(db, "its last name has no end");
    HQ_TRY(LOAD(db, HQDB_INFO, db->info, db->info_count));
    HQ_TRY(LOAD(db, HQDB_METRICS, db->metrics, db->metric_count));
    HQ_TRY(LOAD(db, HQDB_MODULES, db->modules, db->module_count));
    HQ_TRY(LOAD(db, HQDB_SCOPES, db->scopes, db->scope_count));
    HQ_TRY(LOAD(db, HQDB_ALIASES, db->aliases, db->alias_count));
    HQ_TRY(LOAD(db, HQDB_CODES, db->codes, db->code_count));
    HQ_TRY(LOAD(db, HQDB_FRAMES, db->frames, db->frame_count));
    HQ_TRY(LOAD(db, HQDB_CONTEXTS, db->contexts, db->context_count));
    HQ_TRY(LOAD(db, HQDB_PROFILES, db->profiles, db->profile_count));
    HQ_TRY(LOAD(db, HQDB_LOSSES, db->losses, db->loss_count));
    HQ_TRY(LOAD(db, HQDB_REGIONS, db->regions, db->region_count));
    HQ_TRY(LOAD(db, HQDB_MESSAGES, db->messages, db->message_count));
    HQ_TRY(LOAD(db, HQDB_QUEUES, db->queues, db->queue_count));
    HQ_TRY(LOAD(db, HQDB_COMMANDS, db->commands, db->command_count));
    HQ_TRY(LOAD(db, HQDB_HOST_WAITS, db->host_waits, db->host_wait_count));
    HQ_TRY(LOAD(db, HQDB_SOURCES, db->sources, db->source_count));
    HQ_TRY(load_bytes(db, HQDB_SOURCE_TEXT, 0, &f->source_text));
    HQ_TRY(LOAD(db, HQDB_TRACE_INDEX, f->trace_index, f->trace_block_count));
    HQ_TRY(load_bytes(db, HQDB_TRACE, 0, &f->trace));
    HQ_TRY(LOAD(db, HQDB_MARK_INDEX, f->mark_index, f->mark_index_count));
    HQ_TRY(load_bytes(db, HQDB_MARKS, 0, &f->marks));
    HQ_TRY(LOAD(db, HQDB_GROWTH_INDEX, f->growth_index, f->growth_index_count));
    HQ_TRY(load_bytes(db, HQDB_GROWTH, 0, &f->growth));
    HQ_TRY(load_bytes(db, HQDB_VALUES, 0, &f->values));
    HQ_TRY(load_names(db));
    HQ_TRY(LOAD(db, HQDB_KNOWN, f->known, f->known_count));
    HQ_TRY(load_bytes(db, HQDB_KNOWN_TEXT, 0, &f->known_text));
    HQ_TRY(LOAD(db, HQDB_SCOPE_CONTEXTS, db->scope_contexts, db->scope_context_count));
    HQ_TRY(load_exact(db, HQDB_SCOPE_INDEX, 0, sizeof *db->scope_index, &db->scope_index, db->scope_count + 1));
    if (!db->scope_count || !db->context_count || !db->scope_index)
        return damaged(db, "it has no contexts");
    if (db->metric_count > MAX_METRICS)
        return damaged(db, "it has too many metrics");
    return load_exact(db, HQDB_VALUE_INDEX, 0, sizeof *f->value_index, &f->value_index,
                      db->profile_count * db->metric_count + 1);
}

static struct hq_error *load_metric(struct db *db, uint32_t m)
{
    struct db_file *f = db->file;

    HQ_TRY(load_exact(db, HQDB_SUMS, m, sizeof **db->sums, &db->sums[m], db->frame_count + 1));
    HQ_TRY(load_exact(db, HQDB_COUNTS, m, sizeof **db->counts, &db->counts[m], db->frame_count + 1));
    if (!db->sums[m] || !db->counts[m])
        return damaged(db, "a metric has no values");
    HQ_TRY(load_exact(db, HQDB_STATISTICS, m, sizeof **f->statistics, &f->statistics[m], db->context_count));
    HQ_TRY(load_exact(db, HQDB_SCOPE_STATISTICS, m, sizeof **f->scope_statistics, &f->scope_statistics[m],
                      db->scope_count));
    HQ_TRY(load_exact(db, HQDB_FRAME_VALUE_INDEX, m, sizeof **f->frame_value_index, &f->frame_value_index[m],
                      db->frame_count + 1));
    return load_bytes(db, HQDB_FRAME_VALUES, m, &f->frame_values[m]);
}

static struct hq_error *load_metrics(struct db *db)
{
    struct db_file *f = db->file;
    size_t n = db->metric_count;

    db->sums = ARENA_ARRAY(&f->arena, n, const int64_t *);
    db->counts = ARENA_ARRAY(&f->arena, n, const int64_t *);
    f->statistics = ARENA_ARRAY(&f->arena, n, const struct hqdb_statistics *);
    f->scope_statistics = ARENA_ARRAY(&f->arena, n, const struct hqdb_statistics *);
    f->frame_value_index = ARENA_ARRAY(&f->arena, n, const uint64_t *);
    f->frame_values = ARENA_ARRAY(&f->arena, n, struct db_bytes);
    for (uint32_t m = 0; m < n; m++)
        HQ_TRY(load_metric(db, m));
    return NULL;
}

struct hq_error *db_open(const char *path, struct db **out)
{
    struct db *db = xcalloc(1, sizeof *db);
    struct hq_error *err;

    *out = NULL;
    db->file = xcalloc(1, sizeof *db->file);
    db->path = file_is_dir(path) ? file_join(path, HQDB_FILE) : xstrdup(path);
    err = file_map_open(db->path, &db->file->map);
    if (!err)
        err = check_header(db);
    if (!err)
        err = check_sections(db);
    if (!err)
        err = load_tables(db);
    if (!err)
        err = load_metrics(db);
    if (err) {
        db_close(db);
        return err;
    }
    *out = db;
    return NULL;
}

enum file_change db_change(const struct db *db)
{
    return file_map_change(&db->file->map);
}

void db_close(struct db *db)
{
    if (!db)
        return;
    file_map_close(&db->file->map);
    arena_deinit(&db->file->arena);
    free(db->file);
    free(db->path);
    free(db);
}

/* ---- records ---- */

const char *db_string(const struct db *db, uint32_t offset)
{
    return offset < db->file->strings.len ? (const char *)db->file->strings.data + offset : "";
}

bool db_knows_linkage(const struct db *db)
{
    for (uint32_t i = 0; i < db->scope_count; i++)
        if (*db_string(db, db->scopes[i].linkage))
            return true;
    return false;
}

const struct hqdb_scope *db_scope(const struct db *db, uint32_t scope)
{
    return &db->scopes[scope < db->scope_count ? scope : 0];
}

const struct hqdb_context *db_context(const struct db *db, uint32_t context)
{
    return &db->contexts[context < db->context_count ? context : 0];
}

const struct hqdb_code *db_code(const struct db *db, uint32_t code)
{
    return code < db->code_count ? &db->codes[code] : NULL;
}

uint32_t db_parent_context(const struct db *db, uint32_t context)
{
    return context < db->context_count && db->contexts[context].parent < context ? db->contexts[context].parent
                                                                                 : HQDB_NONE;
}

uint32_t db_caller_frame(const struct db *db, uint32_t frame)
{
    do
        frame = db_parent_frame(db, frame);
    while (frame != HQDB_NONE && db->frames[frame].code < db->code_count &&
           db->codes[db->frames[frame].code].flags & HQDB_CODE_ENTRY);
    return frame;
}

uint32_t db_parent_frame(const struct db *db, uint32_t frame)
{
    return frame < db->frame_count && db->frames[frame].parent < frame ? db->frames[frame].parent : HQDB_NONE;
}

uint32_t db_frame_context(const struct db *db, uint32_t frame)
{
    size_t low = 0, high = db->context_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (db->contexts[middle].first_frame <= frame)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

/* ---- statistics, sources, sections ---- */

/* Over all profiles, of a context with its subtree. */
static int64_t inclusive(const struct db *db, uint32_t metric, uint32_t context)
{
    const struct hqdb_context *c = db_context(db, context);
    uint32_t end = c->end > context ? c->end : context + 1, first = c->first_frame, last = (uint32_t)db->frame_count;

    if (end < db->context_count && db->contexts[end].first_frame < last)
        last = db->contexts[end].first_frame;
    return first < last ? (int64_t)((uint64_t)db->sums[metric][last] - (uint64_t)db->sums[metric][first]) : 0;
}

static void statistics_of_one(int64_t value, struct hqdb_statistics *out)
{
    unsigned __int128 squares = (unsigned __int128)((__int128)value * value);

    *out = (struct hqdb_statistics){value != 0, value, value, value, {(uint64_t)squares, (uint64_t)(squares >> 64)}};
}

const struct hqdb_statistics *db_context_statistics(const struct db *db, uint32_t metric, uint32_t context,
                                                    struct hqdb_statistics *room)
{
    if (metric >= db->metric_count || context >= db->context_count)
        return NULL;
    if (db->file->statistics[metric]) {
        db->file->used[DB_STATISTICS] = true;
        return &db->file->statistics[metric][context];
    }
    if (db->profile_count != 1 || db_statistics_profiles(db, metric) != 1)
        return NULL;
    statistics_of_one(inclusive(db, metric, context), room);
    return room;
}

const struct hqdb_statistics *db_scope_statistics(const struct db *db, uint32_t metric, uint32_t scope)
{
    if (metric >= db->metric_count || scope >= db->scope_count || !db->file->scope_statistics[metric])
        return NULL;
    db->file->used[DB_STATISTICS] = true;
    return &db->file->scope_statistics[metric][scope];
}

size_t db_statistics_profiles(const struct db *db, uint32_t metric)
{
    size_t ranked = 0, all = 0;
    bool any_rank = false;

    for (uint32_t i = 0; i < db->profile_count; i++) {
        bool has = db_is_queue(db, i) == db_is_of_devices(db, metric);

        any_rank |= db->profiles[i].rank >= 0;
        ranked += has && db->profiles[i].rank >= 0;
        all += has;
    }
    return any_rank ? ranked : all;
}

const char *db_source(const struct db *db, uint32_t path, size_t *bytes)
{
    struct db_bytes text = db->file->source_text;

    for (size_t i = 0; i < db->source_count; i++) {
        const struct hqdb_source *s = &db->sources[i];

        if (s->path != path || s->offset > text.len || s->bytes > text.len - s->offset)
            continue;
        *bytes = s->bytes;
        db_stored(db)->file->used[DB_SOURCES] = true;
        return (const char *)text.data + s->offset;
    }
    return NULL;
}

size_t db_section_count(const struct db *db)
{
    return db->file->section_count;
}

struct db_section db_section(const struct db *db, size_t i)
{
    const struct hqdb_section *s = &db->file->sections[i];

    return (struct db_section){db_tag_name(s->tag), s->index, s->bytes, s->count};
}

uint64_t db_sources_key(const struct db *db)
{
    return db->file->header.sources_key;
}

uint64_t db_files_key(const struct db *db)
{
    return db->file->header.files_key;
}
