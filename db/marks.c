/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading marks: all of a profile, from the first on. */
#include "common/search.h"
#include "db/db_file.h"
#include "db/trace_code.h"

struct db_marks db_marks_of(const struct db *db, uint32_t profile)
{
    struct db_file *f = db_stored(db)->file;
    size_t number = SEARCH(i, f->mark_index_count, f->mark_index[i].profile < profile);
    const struct hqdb_mark_index *own = number < f->mark_index_count ? &f->mark_index[number] : NULL;

    f->used[DB_TRACE] = true;
    if (!own || own->profile != profile || own->offset > f->marks.len)
        return (struct db_marks){.db = db};
    return (struct db_marks){
        .db = db,
        .at = f->marks.data + own->offset,
        .end = f->marks.data + f->marks.len,
        .left = own->marks,
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
