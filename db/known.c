/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of the procedures of load modules, with or without samples (db.h). */
#include "common/mem.h"
#include "db/db_file.h"
#include "structure/known.h"
#include <string.h>

struct db_known {
    struct known_walk *walk;
    struct db_known_name now;
    char *shown;
};

static const struct hqdb_known *find(const struct db *db, uint32_t module)
{
    const struct db_file *f = db_stored(db)->file;

    for (size_t i = 0; i < f->known_count; i++)
        if (f->known[i].module == module)
            return &f->known[i];
    return NULL;
}

enum known_names db_known_state(const struct db *db, uint32_t module)
{
    const struct hqdb_known *k = find(db, module);

    return k && k->state < KNOWN_KINDS ? (enum known_names)k->state : KNOWN_NOT;
}

struct db_known *db_known_open(const struct db *db, uint32_t module)
{
    const struct hqdb_known *k = find(db, module);
    struct db_file *f = db_stored(db)->file;
    struct db_bytes text = f->known_text;
    struct db_known *out = xcalloc(1, sizeof *out);

    f->used[DB_KNOWN] = true;
    if (k && k->offset <= text.len && k->bytes <= text.len - k->offset)
        out->walk = known_open(text.data + k->offset, k->bytes, k->unpacked);
    return out;
}

const struct db_known_name *db_known_next(struct db_known *k)
{
    const char *symbol = k->walk ? known_next(k->walk) : NULL;

    if (!symbol)
        return NULL;
    free(k->shown);
    k->shown = structure_demangle(symbol);
    k->now = (struct db_known_name){.linkage = symbol, .name = k->shown ? k->shown : symbol};
    return &k->now;
}

void db_known_close(struct db_known *k)
{
    if (!k)
        return;
    known_close(k->walk);
    free(k->shown);
    free(k);
}
