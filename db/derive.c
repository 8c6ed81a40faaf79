/* SPDX-License-Identifier: BSD-3-Clause */
/* A database seen with other settings: another tree over the same frames, in memory (fuse.h). */
#include "common/mem.h"
#include "db/db_file.h"
#include "db/fuse.h"
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

static void derive_regions(struct db *db, const struct fuse *fused)
{
    struct hqdb_region *regions = ARENA_ARRAY(&db->file->arena, db->region_count, struct hqdb_region);

    for (size_t i = 0; i < db->region_count; i++) {
        regions[i] = db->regions[i];
        regions[i].frame = regions[i].frame < db->frame_count ? fused->frame_rank[regions[i].frame] : HQDB_NONE;
    }
    db->regions = regions;
}

static void derive_messages(struct db *db, const struct fuse *fused)
{
    struct hqdb_message *messages = ARENA_ARRAY(&db->file->arena, db->message_count, struct hqdb_message);

    for (size_t i = 0; i < db->message_count; i++) {
        messages[i] = db->messages[i];
        messages[i].frame = messages[i].frame < db->frame_count ? fused->frame_rank[messages[i].frame] : HQDB_NONE;
    }
    db->messages = messages;
}

static void derive_commands(struct db *db, const struct fuse *fused)
{
    struct hqdb_command *commands = ARENA_ARRAY(&db->file->arena, db->command_count, struct hqdb_command);

    for (size_t i = 0; i < db->command_count; i++) {
        commands[i] = db->commands[i];
        commands[i].frame = commands[i].frame < db->frame_count ? fused->frame_rank[commands[i].frame] : HQDB_NONE;
    }
    db->commands = commands;
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
    derive_regions(db, &fused);
    derive_messages(db, &fused);
    derive_commands(db, &fused);
    fuse_deinit(&fused);
    *out = db;
    return NULL;
}
