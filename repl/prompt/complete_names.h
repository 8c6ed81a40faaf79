/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names in a database for completion: those that begin with what is typed, the costliest first. The list in the
 * database (db/name_list.h) has 24 bytes a name; names themselves are read only of those that fit, so that the first
 * Tab in a database that nobody has read yet is fast.
 */
#ifndef HQ_REPL_PROMPT_COMPLETE_NAMES_H
#define HQ_REPL_PROMPT_COMPLETE_NAMES_H

#include "common/arena.h"
#include "db/db.h"
#include "query/grammar/words.h"
#include <stdbool.h>
#include <stddef.h>

struct found_name {
    const char *text; /* as the language finds it: without arguments; of a file or module the last part of the path */
    int64_t cost;     /* inclusive, of the first metric, in base units; 0 if it is not known */
};

struct found_names {
    struct found_name *data;
    size_t len, cap;
    bool more; /* others fit, too */
};

/*
 * Adds up to `most` names of procedures (NAMES_PROCEDURE and NAMES_ANY: inlined ones too), files or modules that begin
 * with `prefix`: whole, or in the last part of a qualified name or a path. Texts live in the arena, the array is the
 * caller's.
 */
void names_begin(const struct db *db, enum name_kind kind, const char *prefix, size_t most, struct arena *arena,
                 struct found_names *out);
/* Adds the names of phases, each once, by name. Reads all scopes. */
void names_phases(const struct db *db, struct found_names *out);

#endif
