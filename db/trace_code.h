/* SPDX-License-Identifier: BSD-3-Clause */
/* Coded trace records (format/database.h, struct hqdb_trace_block): what a record is coded against is the one before
 * it. */
#ifndef HQ_DB_TRACE_CODE_H
#define HQ_DB_TRACE_CODE_H

#include "db/coded.h"
#include "db/db.h"

/* The record that the first record of a block is coded against. */
static inline struct db_trace_record trace_code_start(uint64_t first_us)
{
    return (struct db_trace_record){.time_us = first_us, .weight = 1};
}

/* Appends a record that is not earlier than `last`, and makes it the last. */
static inline void put_trace_record(struct bytes *b, struct db_trace_record *last, const struct db_trace_record *r)
{
    bool changed = r->metric != last->metric || r->weight != last->weight;

    put_coded(b, (r->time_us - last->time_us) << 1 | changed);
    if (changed) {
        put_coded(b, r->metric);
        put_coded(b, r->weight);
    }
    put_signed(b, (int64_t)r->frame - (int64_t)last->frame);
    *last = *r;
}

struct mark_list {
    struct db_mark *data;
    size_t len, cap;
};

/* Likewise a mark (format/database.h, HQDB_MARKS). */
static inline void put_mark(struct bytes *b, struct db_mark *last, const struct db_mark *m)
{
    put_coded(b, (m->time_us - last->time_us) << 1 | m->leaves);
    put_signed(b, (int64_t)m->frame - (int64_t)last->frame);
    *last = *m;
}

struct growth_list {
    struct db_growth *data;
    size_t len, cap;
};

/* Likewise a growth (HQDB_GROWTH): `step` and `at_mark` are its time. */
static inline void put_growth(struct bytes *b, struct db_growth *last, const struct db_growth *g, uint64_t step,
                              bool at_mark)
{
    bool changed = g->metric != last->metric;

    put_coded(b, step << 2 | (uint64_t)at_mark << 1 | changed);
    if (changed)
        put_coded(b, g->metric);
    put_coded(b, g->amount);
    *last = *g;
}

/* The mark behind `last`, which it replaces. False at the end, and for what does not fit. */
static inline bool get_mark(const uint8_t **at, const uint8_t *end, struct db_mark *last)
{
    uint64_t time, frame;
    int64_t step;

    if (!get_coded(at, end, &time) || !get_signed(at, end, &step))
        return false;
    frame = last->frame + (uint64_t)step;
    *last = (struct db_mark){last->time_us + (time >> 1), (uint32_t)frame, time & 1};
    return frame <= UINT32_MAX;
}

/* The record behind `last`, which it replaces. False at the end, and for what does not fit into a record. */
static inline bool get_trace_record(const uint8_t **at, const uint8_t *end, struct db_trace_record *last)
{
    uint64_t time, metric = last->metric, weight = last->weight;
    int64_t step;

    if (!get_coded(at, end, &time))
        return false;
    if (time & 1 && (!get_coded(at, end, &metric) || !get_coded(at, end, &weight)))
        return false;
    if (!get_signed(at, end, &step) || metric > UINT32_MAX || weight > UINT32_MAX)
        return false;
    uint64_t frame = last->frame + (uint64_t)step;

    *last = (struct db_trace_record){last->time_us + (time >> 1), (uint32_t)frame, (uint32_t)metric, (uint32_t)weight};
    return frame <= UINT32_MAX;
}

#endif
