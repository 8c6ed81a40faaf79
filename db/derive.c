/* SPDX-License-Identifier: BSD-3-Clause */
/* A database seen with other settings: another tree over the same frames, in memory (fuse.h). */
#include "common/mem.h"
#include "db/db_file.h"
#include "db/fuse.h"
#include <stddef.h>
#include <string.h>

static const void *keep(struct arena *a, const void *data, size_t count, size_t size)
{
    void *copy = arena_array(a, count, size);

    if (count)
        memcpy(copy, data, count * size);
    return copy;
}

static void derive_frames(struct db *db, const struct fuse *fused)
{
    const struct db *base = db->file->base;
    struct hqdb_frame *frames = ARENA_ARRAY(&db->file->arena, base->frame_count, struct hqdb_frame);

    for (uint32_t i = 0; i < base->frame_count; i++) {
        uint32_t own = fused->frame_at[i], parent = db_parent_frame(base, own);

        frames[i] = (struct hqdb_frame){parent == HQDB_NONE ? HQDB_NONE : fused->frame_rank[parent],
                                        base->frames[own].code};
    }
    db->frames = frames;
}

/* Prefix sums in the new order. */
static const int64_t *derive_sums(struct db *db, const int64_t *of_base)
{
    size_t n = db->frame_count;
    int64_t *sums = ARENA_ARRAY(&db->file->arena, n + 1, int64_t);

    for (size_t i = 0; i < n; i++) {
        uint32_t f = db->file->frame_at[i];
        uint64_t own = (uint64_t)of_base[f + 1] - (uint64_t)of_base[f];

        sums[i + 1] = (int64_t)((uint64_t)sums[i] + own);
    }
    return sums;
}

static void derive_metrics(struct db *db)
{
    const struct db *base = db->file->base;
    struct arena *a = &db->file->arena;
    size_t n = base->metric_count;

    db->sums = ARENA_ARRAY(a, n, const int64_t *);
    db->counts = ARENA_ARRAY(a, n, const int64_t *);
    db->file->statistics = ARENA_ARRAY(a, n, const struct hqdb_statistics *);
    db->file->scope_statistics = ARENA_ARRAY(a, n, const struct hqdb_statistics *);
    for (size_t m = 0; m < n; m++) {
        db->sums[m] = derive_sums(db, base->sums[m]);
        db->counts[m] = derive_sums(db, base->counts[m]);
    }
}

static void derive_scope_index(struct db *db)
{
    struct arena *a = &db->file->arena;
    uint64_t *index = ARENA_ARRAY(a, db->scope_count + 2, uint64_t);
    uint32_t *contexts = ARENA_ARRAY(a, db->context_count, uint32_t);

    for (size_t i = 0; i < db->context_count; i++)
        index[db->contexts[i].scope + 2]++;
    for (size_t i = 0; i <= db->scope_count; i++)
        index[i + 1] += index[i];
    /* Filling moves the start of each scope, which stands one place to the right, to its end: the start of the next. */
    for (size_t i = 0; i < db->context_count; i++)
        contexts[index[db->contexts[i].scope + 1]++] = (uint32_t)i;
    db->scope_index = index;
    db->scope_contexts = contexts;
    db->scope_context_count = db->context_count;
}

/* A copy of records, each with its frame (at `offset` in it) as the derived database numbers it. */
static void *with_frames(struct db *db, const struct fuse *fused, const void *records, size_t count, size_t size,
                         size_t offset)
{
    char *copy = arena_array(&db->file->arena, count, size);

    for (size_t i = 0; i < count; i++) {
        uint32_t frame;

        memcpy(copy + i * size, (const char *)records + i * size, size);
        memcpy(&frame, copy + i * size + offset, sizeof frame);
        frame = frame < db->frame_count ? fused->frame_rank[frame] : HQDB_NONE;
        memcpy(copy + i * size + offset, &frame, sizeof frame);
    }
    return copy;
}

static void derive_records(struct db *db, const struct fuse *fused)
{
    db->regions = with_frames(db, fused, db->regions, db->region_count, sizeof *db->regions,
                              offsetof(struct hqdb_region, frame));
    db->messages = with_frames(db, fused, db->messages, db->message_count, sizeof *db->messages,
                               offsetof(struct hqdb_message, frame));
    db->commands = with_frames(db, fused, db->commands, db->command_count, sizeof *db->commands,
                               offsetof(struct hqdb_command, frame));
}

struct hq_error *db_derive(const struct db *base, struct fuse_settings settings, struct db **out)
{
    struct db *db = xmalloc(sizeof *db);
    struct db_file *file = xcalloc(1, sizeof *file);
    struct fuse fused;

    if (base->file->base)
        base = base->file->base;
    *db = *base;
    db->path = xstrdup(base->path);
    db->file = file;
    file->base = base;
    file->strings = base->file->strings;
    file->source_text = base->file->source_text;
    file->sections = base->file->sections;
    file->section_count = base->file->section_count;
    file->header = base->file->header;
    fuse_run(&(struct fuse_input){base->scopes, base->scope_count, base->codes, base->code_count, base->frames,
                                  base->frame_count, (const char *)file->strings.data, file->strings.len},
             settings, &fused);
    db->contexts = keep(&file->arena, fused.contexts, fused.context_count, sizeof *fused.contexts);
    db->context_count = fused.context_count;
    file->frame_at = keep(&file->arena, fused.frame_at, base->frame_count, sizeof *fused.frame_at);
    file->frame_rank = keep(&file->arena, fused.frame_rank, base->frame_count, sizeof *fused.frame_rank);
    derive_frames(db, &fused);
    derive_metrics(db);
    derive_scope_index(db);
    derive_records(db, &fused);
    fuse_deinit(&fused);
    *out = db;
    return NULL;
}
