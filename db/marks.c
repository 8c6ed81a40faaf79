/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading marks, and what was counted at them: all of a profile, from the first on. */
#include "common/search.h"
#include "db/db_file.h"
#include "db/trace_code.h"

/* The record of a profile in an index of `count`, NULL: it has none, or one outside of the `bytes`. */
static const struct hqdb_coded_index *own_record(const struct hqdb_coded_index *index, size_t count, uint32_t profile,
                                                 const struct db_bytes *bytes)
{
    size_t number = SEARCH(i, count, index[i].profile < profile);
    const struct hqdb_coded_index *own = number < count ? &index[number] : NULL;

    return own && own->profile == profile && own->offset <= bytes->len ? own : NULL;
}

struct db_marks db_marks_of(const struct db *db, uint32_t profile)
{
    struct db_file *f = db_stored(db)->file;
    const struct hqdb_coded_index *own = own_record(f->mark_index, f->mark_index_count, profile, &f->marks);

    f->used[DB_TRACE] = true;
    if (!own)
        return (struct db_marks){.db = db};
    return (struct db_marks){
        .db = db,
        .at = f->marks.data + own->offset,
        .end = f->marks.data + f->marks.len,
        .left = own->records,
    };
}

bool db_mark_next(struct db_marks *m, struct db_mark *out)
{
    if (!m->left || !get_mark(&m->at, m->end, &m->last) || m->last.frame >= m->db->frame_count) {
        m->left = 0;
        return false;
    }
    m->left--;
    *out = m->last;
    if (m->db->file->base)
        out->frame = m->db->file->frame_rank[out->frame];
    return true;
}

struct db_growths db_growths_of(const struct db *db, uint32_t profile)
{
    struct db_file *f = db_stored(db)->file;
    const struct hqdb_coded_index *own = own_record(f->growth_index, f->growth_index_count, profile, &f->growth);

    f->used[DB_TRACE] = true;
    if (!own)
        return (struct db_growths){.left = 0};
    return (struct db_growths){
        .marks = db_marks_of(db_stored(db), profile),
        .at = f->growth.data + own->offset,
        .end = f->growth.data + f->growth.len,
        .left = own->records,
    };
}

/* The time of the mark so many behind the last one that was asked for. */
static bool time_of_mark(struct db_growths *g, uint64_t step)
{
    struct db_mark m = {.time_us = g->marks.last.time_us};

    while (step-- > 0)
        if (!db_mark_next(&g->marks, &m))
            return false;
    g->last.time_us = m.time_us;
    return true;
}

bool db_growth_next(struct db_growths *g, struct db_growth *out)
{
    uint64_t head, metric = g->last.metric;

    if (!g->left || !get_coded(&g->at, g->end, &head) || (head & 1 && !get_coded(&g->at, g->end, &metric)) ||
        !get_coded(&g->at, g->end, &g->last.amount) || metric > UINT32_MAX ||
        (head & 2 && !time_of_mark(g, head >> 2))) {
        g->left = 0;
        return false;
    }
    if (!(head & 2))
        g->last.time_us += head >> 2;
    g->last.metric = (uint32_t)metric;
    g->left--;
    *out = g->last;
    return true;
}
