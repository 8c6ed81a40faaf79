/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds names that are known without samples: those of procedures of the load modules, and of these themselves. */
#include "common/names.h"
#include "common/suggest.h"
#include "query/pattern/pattern.h"
#include <string.h>

static void offer(struct suggest *near, struct arena *arena, const char *name)
{
    size_t n;
    const char *last = name_last(name, &n);

    suggest_add(near, arena_strndup(arena, last, n));
}

/* One load module. */
static bool in_module(const struct db *db, uint32_t module, bool (*test)(const void *, const char *, bool),
                      const void *arg, struct arena *arena, struct suggest *near)
{
    struct db_known *k = db_known_open(db, module);
    bool found = false;

    for (const struct db_known_name *n; !found && (n = db_known_next(k));) {
        found = test(arg, n->name, false) || (n->linkage != n->name && test(arg, n->linkage, false));
        if (near && !found)
            offer(near, arena, n->name);
    }
    db_known_close(k);
    return found;
}

static bool in_database(const struct db *db, bool (*test)(const void *, const char *, bool), const void *arg,
                        struct arena *arena, struct suggest *near, const char **partly)
{
    bool any = false;

    for (uint32_t m = 0; m < db->module_count; m++) {
        const char *path = db_string(db, db->modules[m].path);

        if (test(arg, path, true) || in_module(db, m, test, arg, arena, near))
            return true;
        any |= db_known_state(db, m) != KNOWN_NOT;
        /* System libraries are stripped everywhere. */
        if (db_known_state(db, m) < KNOWN_SYMBOLS && db->modules[m].flags & HQDB_MODULE_MAIN)
            *partly = path_base(path);
    }
    if (!any)
        *partly = "the program";
    return false;
}

bool pattern_known(const struct tree *t, bool (*test)(const void *arg, const char *text, bool is_path), const void *arg,
                   struct arena *arena, struct suggest *near, const char **partly)
{
    *partly = NULL;
    return in_database(t->db, test, arg, arena, near, partly) ||
           (t->old && in_database(t->old, test, arg, arena, near, partly));
}
