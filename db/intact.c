/* SPDX-License-Identifier: BSD-3-Clause */
/* Is what a question has read of a database as it was written (db_damage)? */
#include "db/db_file.h"
#include "db/model/writer.h"

#define LARGEST (64u << 20) /* bytes of a section: 20 ms */

static enum db_part part_of(uint32_t tag)
{
    switch (tag) {
    case HQDB_VALUES:
    case HQDB_VALUE_INDEX: return DB_VALUES;
    case HQDB_FRAME_VALUES:
    case HQDB_FRAME_VALUE_INDEX: return DB_FRAME_VALUES;
    case HQDB_STATISTICS:
    case HQDB_SCOPE_STATISTICS: return DB_STATISTICS;
    case HQDB_MARKS:
    case HQDB_MARK_INDEX:
    case HQDB_GROWTH:
    case HQDB_GROWTH_INDEX:
    case HQDB_TRACE:
    case HQDB_TRACE_INDEX: return DB_TRACE;
    case HQDB_SOURCE_TEXT: return DB_SOURCES;
    case HQDB_KNOWN_TEXT: return DB_KNOWN;
    default: return DB_TABLES;
    }
}

/* Of marks alone, and what was counted at them. */
static bool is_of_marks(uint32_t tag)
{
    return tag == HQDB_MARKS || tag == HQDB_MARK_INDEX || tag == HQDB_GROWTH || tag == HQDB_GROWTH_INDEX;
}

static struct hq_error *damage(const struct db *db, bool marks)
{
    struct db_file *f = db_stored(db)->file;

    if (!f->intact)
        f->intact = ARENA_ARRAY(&f->arena, f->section_count + 1, uint8_t);
    for (size_t i = 0; i < f->section_count; i++) {
        const struct hqdb_section *s = &f->sections[i];
        enum db_part part = part_of(s->tag);

        if (!marks && is_of_marks(s->tag))
            continue;
        if (f->intact[i] || s->bytes > LARGEST || (part != DB_TABLES && !f->used[part]))
            continue;
        if (section_checksum(f->map.data + s->offset, s->bytes) != s->checksum)
            return hq_error_new(
                HQ_DATA,
                "%s: the database is damaged: a part of it (%s) is not as it was written; `hq verify` says "
                "more, and `hq build --force` makes it anew",
                db->path, db_tag_name(s->tag));
        f->intact[i] = 1;
    }
    return NULL;
}

struct hq_error *db_damage(const struct db *db)
{
    return damage(db, true);
}

struct hq_error *db_damage_beside_marks(const struct db *db)
{
    return damage(db, false);
}
