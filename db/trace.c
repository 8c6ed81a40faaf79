/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading traces: the block index is searched, one block is decoded, as far as it is needed. */
#include "common/search.h"
#include "common/mem.h"
#include "db/db_file.h"
#include "db/trace_code.h"

struct db_trace_reader {
    const struct db *db;
    const struct hqdb_trace_block *blocks; /* of the profile */
    size_t block_count;
    size_t next_block;
    struct db_trace_record last;    /* of the block before next_block, as it is stored */
    const uint8_t *at, *end;        /* what is left of its bytes */
    uint32_t left;                  /* and records */
    struct db_trace_record held[2]; /* what a seek has read ahead */
    uint32_t held_count, held_at;
};

/* The first block whose profile is at least `profile`. */
static size_t find_profile(const struct db_file *f, uint64_t profile)
{
    return SEARCH(i, f->trace_block_count, f->trace_index[i].profile < profile);
}

struct hq_error *db_trace_open(const struct db *db, uint32_t profile, struct db_trace_reader **out)
{
    struct db_file *f = db_stored(db)->file;
    struct db_trace_reader *r;
    size_t first, last;

    *out = NULL;
    if (profile >= db->profile_count)
        return hq_error_new(HQ_USAGE, "there is no profile %u", profile);
    f->used[DB_TRACE] = true;
    first = find_profile(f, profile);
    last = find_profile(f, (uint64_t)profile + 1);
    r = xcalloc(1, sizeof *r);
    r->db = db;
    r->blocks = f->trace_index + first;
    r->block_count = last > first ? last - first : 0;
    *out = r;
    return NULL;
}

void db_trace_close(struct db_trace_reader *r)
{
    free(r);
}

static void start_block(struct db_trace_reader *r, size_t block)
{
    const struct db_file *f = db_stored(r->db)->file;
    const struct hqdb_trace_block *b = &r->blocks[block];
    bool last = b == f->trace_index + f->trace_block_count - 1;
    uint64_t limit = last ? f->trace.len : b[1].offset;

    r->next_block = block + 1;
    r->left = 0;
    if (limit > f->trace.len || b->offset > limit)
        return;
    r->last = trace_code_start(b->first_us);
    r->at = f->trace.data + b->offset;
    r->end = f->trace.data + limit;
    r->left = b->records < HQDB_TRACE_RECORDS ? b->records : HQDB_TRACE_RECORDS;
}

/* The next record of the block; a block ends at its end or at the first thing that cannot be. */
static bool next_of_block(struct db_trace_reader *r, struct db_trace_record *out)
{
    const struct db *db = r->db;

    if (!r->left || !get_trace_record(&r->at, r->end, &r->last) || r->last.frame >= db->frame_count ||
        r->last.metric >= db->metric_count) {
        r->left = 0;
        return false;
    }
    r->left--;
    *out = r->last;
    if (db->file->base)
        out->frame = db->file->frame_rank[out->frame];
    return true;
}

bool db_trace_next(struct db_trace_reader *r, struct db_trace_record *out)
{
    if (r->held_at < r->held_count) {
        *out = r->held[r->held_at++];
        return true;
    }
    while (!next_of_block(r, out)) {
        if (r->next_block >= r->block_count)
            return false;
        start_block(r, r->next_block);
    }
    return true;
}

void db_trace_seek(struct db_trace_reader *r, uint64_t time_us)
{
    size_t low = 0, high = r->block_count;
    struct db_trace_record next;

    r->held_count = r->held_at = r->left = 0;
    r->next_block = 0;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (r->blocks[middle].first_us <= time_us)
            low = middle;
        else
            high = middle;
    }
    if (!r->block_count)
        return;
    start_block(r, low);
    r->held_count = next_of_block(r, &r->held[0]);
    while (r->held_count == 1 && next_of_block(r, &next))
        r->held[next.time_us <= time_us ? 0 : r->held_count++] = next;
}

bool db_trace_extent(const struct db_trace_reader *r, uint64_t *records, uint64_t *first_us, uint64_t *last_us)
{
    *records = 0;
    for (size_t i = 0; i < r->block_count; i++)
        *records += r->blocks[i].records;
    if (!r->block_count || !*records)
        return false;
    *first_us = r->blocks[0].first_us;
    *last_us = r->blocks[r->block_count - 1].last_us;
    return true;
}
