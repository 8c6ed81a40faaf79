/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading marks: all of a profile, from the first on. */
#include "db/db_file.h"
#include "db/trace_code.h"

static const struct db *stored(const struct db *db)
{
    return db->file->base ? db->file->base : db;
}

struct db_marks db_marks_of(const struct db *db, uint32_t profile)
{
    struct db_file *f = stored(db)->file;
    size_t low = 0, high = f->mark_index_count;

    f->used[DB_TRACE] = true;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (f->mark_index[middle].profile < profile)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == f->mark_index_count || f->mark_index[low].profile != profile || f->mark_index[low].offset > f->marks.len)
        return (struct db_marks){.db = db};
    return (struct db_marks){
        .db = db,
        .at = f->marks.data + f->mark_index[low].offset,
        .end = f->marks.data + f->marks.len,
        .left = f->mark_index[low].marks,
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
