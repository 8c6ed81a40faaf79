/* SPDX-License-Identifier: BSD-3-Clause */
/* Cursors over coded values. They end at the first number that cannot be. */
#include "db/coded.h"
#include "db/db_file.h"

struct db_total db_profile_total(const struct db *db, uint32_t profile, uint32_t metric)
{
    const struct db_file *f = db_stored(db)->file;
    const struct hqdb_value_index *i;

    if (profile >= db->profile_count || metric >= db->metric_count || !f->value_index)
        return (struct db_total){0};
    i = &f->value_index[(size_t)profile * db->metric_count + metric];
    return (struct db_total){i->sum, i->count};
}

struct db_values db_profile_values(const struct db *db, uint32_t profile, uint32_t metric)
{
    struct db_file *f = db_stored(db)->file;
    struct db_values v = {.db = db, .profile = profile, .metric = metric, .frame = HQDB_NONE};
    const struct hqdb_value_index *i;

    if (profile >= db->profile_count || metric >= db->metric_count || !f->value_index)
        return v;
    i = &f->value_index[(size_t)profile * db->metric_count + metric];
    if (i[1].offset > f->values.len || i[0].offset > i[1].offset)
        return v;
    f->used[DB_VALUES] = true;
    v.at = f->values.data + i[0].offset;
    v.end = f->values.data + i[1].offset;
    v.period = db->metrics[metric].period;
    return v;
}

struct db_values db_frame_values(const struct db *db, struct db_range frames, uint32_t metric)
{
    struct db_file *f = db_stored(db)->file;
    struct db_values v = {.db = db, .metric = metric, .by_frame = true};

    if (metric >= db->metric_count || !f->frame_value_index[metric])
        return v;
    f->used[DB_FRAME_VALUES] = true;
    v.index = f->frame_value_index[metric];
    v.bytes = f->frame_values[metric].data;
    v.size = f->frame_values[metric].len;
    v.period = db->metrics[metric].period;
    v.last_frame = frames.last < db->frame_count ? frames.last : (uint32_t)db->frame_count;
    v.frame = frames.first - 1;
    if (frames.first >= v.last_frame)
        v.frame = v.last_frame - 1;
    return v;
}

/* To the next frame that has values. */
static bool enter_frame(struct db_values *v)
{
    while (v->frame + 1 < v->last_frame) {
        uint32_t frame = ++v->frame;
        uint64_t start, end;

        if (v->db->file->base)
            frame = v->db->file->frame_at[frame];
        start = v->index[frame];
        end = v->index[frame + 1];
        if (end > v->size || start >= end)
            continue;
        v->at = v->bytes + start;
        v->end = v->bytes + end;
        v->profile = HQDB_NONE;
        return true;
    }
    return false;
}

static bool get_amount(struct db_values *v, struct db_value *out)
{
    uint64_t head, more = 0;

    if (!get_coded(&v->at, v->end, &head))
        return false;
    out->count = head >> 2;
    switch (head & 3) {
    case HQDB_FORM_COUNT: return !__builtin_mul_overflow(out->count, v->period, &out->sum);
    case HQDB_FORM_WEIGHT:
        return get_coded(&v->at, v->end, &more) && !__builtin_add_overflow(out->count, more, &more) &&
               !__builtin_mul_overflow(more, v->period, &out->sum);
    case HQDB_FORM_SUM: return get_signed(&v->at, v->end, &out->sum);
    default: return false;
    }
}

/* One step of the number that is coded as differences. */
static bool get_next(struct db_values *v, uint32_t *number, size_t limit)
{
    uint64_t step, next;

    if (!get_coded(&v->at, v->end, &step) || !step || step > limit)
        return false;
    next = (uint64_t)(uint32_t)(*number + 1) + step - 1;
    if (next >= limit)
        return false;
    *number = (uint32_t)next;
    return true;
}

static bool next_by_profile(struct db_values *v, struct db_value *out)
{
    if (v->at == v->end || !get_next(v, &v->frame, db_stored(v->db)->frame_count))
        return false;
    out->frame = v->db->file->base ? v->db->file->frame_rank[v->frame] : v->frame;
    out->profile = v->profile;
    return get_amount(v, out);
}

static bool next_by_frame(struct db_values *v, struct db_value *out)
{
    if (v->at == v->end && !enter_frame(v))
        return false;
    if (!get_next(v, &v->profile, v->db->profile_count))
        return false;
    out->frame = v->frame;
    out->profile = v->profile;
    return get_amount(v, out);
}

bool db_value_next(struct db_values *v, struct db_value *out)
{
    if (v->by_frame ? next_by_frame(v, out) : next_by_profile(v, out))
        return true;
    /* At the end, or damaged: it stays there. */
    v->at = v->end;
    v->frame = v->by_frame ? v->last_frame : v->frame;
    return false;
}
