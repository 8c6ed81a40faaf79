/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading traces: the block index is searched, one block is decoded. */
#include "common/mem.h"
#include "db/coded.h"
#include "db/db_file.h"

struct db_trace_reader {
    const struct db *db;
    const struct hqdb_trace_block *blocks;      /* of the profile */
    size_t block_count;
    size_t next_block;
    struct db_trace_record records[HQDB_TRACE_RECORDS];     /* of the block before next_block */
    uint32_t len, at;
};

static const struct db *stored(const struct db *db)
{
    return db->file->base ? db->file->base : db;
}

/* The first block whose profile is at least `profile`. */
static size_t find_profile(const struct db_file *f, uint64_t profile)
{
    size_t low = 0, high = f->trace_block_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (f->trace_index[middle].profile < profile)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct hq_error *db_trace_open(const struct db *db, uint32_t profile, struct db_trace_reader **out)
{
    const struct db_file *f = stored(db)->file;
    struct db_trace_reader *r;
    size_t first, last;

    *out = NULL;
    if (profile >= db->profile_count)
        return hq_error_new(HQ_USAGE, "there is no profile %u", profile);
    first = find_profile(f, profile);
    last = find_profile(f, (uint64_t)profile + 1);
    /* The records are not cleared: a view opens thousands of these. */
    r = xmalloc(sizeof *r);
    r->db = db;
    r->blocks = f->trace_index + first;
    r->block_count = last > first ? last - first : 0;
    r->next_block = 0;
    r->len = r->at = 0;
    *out = r;
    return NULL;
}

void db_trace_close(struct db_trace_reader *r)
{
    free(r);
}

struct decoding { uint64_t time, frame, metric, weight; };

static bool decode_record(struct decoding *d, const uint8_t **at, const uint8_t *end, const struct db *db)
{
    uint64_t time;
    int64_t step;

    if (!get_coded(at, end, &time))
        return false;
    if (time & 1 && (!get_coded(at, end, &d->metric) || !get_coded(at, end, &d->weight)))
        return false;
    if (!get_signed(at, end, &step))
        return false;
    d->time += time >> 1;
    d->frame += (uint64_t)step;
    return d->frame < db->frame_count && d->metric < db->metric_count && d->weight <= UINT32_MAX;
}

/* Decodes a block up to its end or to the first thing that cannot be. */
static void load_block(struct db_trace_reader *r, size_t block)
{
    const struct db_file *f = stored(r->db)->file;
    const struct hqdb_trace_block *b = &r->blocks[block];
    bool last = b == f->trace_index + f->trace_block_count - 1;
    uint64_t limit = last ? f->trace.len : b[1].offset;
    struct decoding d = {.time = b->first_us, .weight = 1};

    r->len = r->at = 0;
    r->next_block = block + 1;
    if (limit > f->trace.len || b->offset > limit)
        return;
    for (const uint8_t *at = f->trace.data + b->offset; r->len < b->records && r->len < HQDB_TRACE_RECORDS;) {
        if (!decode_record(&d, &at, f->trace.data + limit, r->db))
            return;
        r->records[r->len++] = (struct db_trace_record){
            .time_us = d.time,
            .frame = r->db->file->base ? r->db->file->frame_rank[d.frame] : (uint32_t)d.frame,
            .metric = (uint32_t)d.metric,
            .weight = (uint32_t)d.weight,
        };
    }
}

bool db_trace_next(struct db_trace_reader *r, struct db_trace_record *out)
{
    while (r->at == r->len) {
        if (r->next_block >= r->block_count)
            return false;
        load_block(r, r->next_block);
    }
    *out = r->records[r->at++];
    return true;
}

void db_trace_seek(struct db_trace_reader *r, uint64_t time_us)
{
    size_t low = 0, high = r->block_count;
    uint32_t i = 0;

    r->len = r->at = 0;
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
    load_block(r, low);
    while (i + 1 < r->len && r->records[i + 1].time_us <= time_us)
        i++;
    r->at = i;
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
