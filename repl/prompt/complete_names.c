/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/prompt/complete_names.h"
#include "common/file.h"
#include "common/names.h"
#include "common/str.h"
#include "common/vec.h"
#include "db/name_list.h"
#include <string.h>

struct search {
    const struct db *db;
    enum hqdb_names sort;
    const char *prefix;
    size_t length;
    struct db_range whole; /* the texts that begin with the prefix */
};

static enum hqdb_names sort_of(enum name_kind kind)
{
    return kind == NAMES_FILE ? HQDB_NAMES_FILES : kind == NAMES_MODULE ? HQDB_NAMES_MODULES : HQDB_NAMES_PROCEDURES;
}

static bool is_whole(const struct search *s, const struct hqdb_name *n)
{
    return n->name >= s->whole.first && n->name < s->whole.last;
}

/* False if the last part does not begin with the prefix; else it may. */
static bool may_be_part(const struct search *s, const struct hqdb_name *n)
{
    return n->part[0] && !memcmp(n->part, s->prefix, s->length < sizeof n->part ? s->length : sizeof n->part);
}

/* The text up to where its arguments begin: those only for who has begun to type them. NULL if it does not begin with
 * the prefix. */
static const char *fitting(const struct search *s, const char *text, size_t no_arguments, struct arena *arena)
{
    if (strncmp(text, s->prefix, s->length))
        return NULL;
    return s->length > no_arguments ? text : arena_strndup(arena, text, no_arguments);
}

/* Returns the text that is offered for a name; NULL if no part of it begins with the prefix, or it could not be
 * typed. */
static const char *offer(const struct search *s, const char *name, struct arena *arena)
{
    const char *text, *last = file_basename(name);
    size_t length;

    if (strpbrk(name, "\"'"))
        return NULL;
    if (s->sort != HQDB_NAMES_PROCEDURES) {
        text = fitting(s, last, strlen(last), arena);
        return text ? text : fitting(s, name, strlen(name), arena);
    }
    struct name_parts parts = name_split(name);

    text = fitting(s, name, (size_t)(parts.name - name) + parts.no_arguments, arena);
    if (!text)
        text = fitting(s, parts.name, parts.no_arguments, arena);
    last = name_last(name, &length);
    return text || length < s->length ? text : fitting(s, last, length, arena);
}

static bool is_there(const struct found_names *out, size_t from, const char *text)
{
    for (size_t i = from; i < out->len; i++)
        if (!strcmp(out->data[i].text, text))
            return true;
    return false;
}

void names_begin(const struct db *db, enum name_kind kind, const char *prefix, size_t most, struct arena *arena,
                 struct found_names *out)
{
    struct search s = {
        .db = db, .sort = sort_of(kind), .prefix = prefix, .length = strlen(prefix), .whole = names_range(db, prefix)};
    size_t first = out->len;
    struct names own;
    struct db_names names = names_of(db, s.sort, &own);

    for (size_t i = 0; i < names.len; i++) {
        const struct hqdb_name *n = &names.data[i];
        const char *text = is_whole(&s, n) || may_be_part(&s, n) ? offer(&s, db_string(db, n->name), arena) : NULL;

        if (!text || is_there(out, first, text))
            continue;
        if (out->len - first >= most) {
            out->more = true;
            break;
        }
        vec_push(out, (struct found_name){text, n->sum});
    }
    vec_deinit(&own);
}

void names_phases(const struct db *db, struct found_names *out)
{
    for (size_t i = 0; i < db->scope_count; i++) {
        const char *name = db_string(db, db->scopes[i].name);

        /* `phase step`, as rows show it (db/build/attribute.c). */
        if (db->scopes[i].kind != SCOPE_PHASE || !str_begins(name, "phase ") || strpbrk(name, "\"'"))
            continue;
        if (!is_there(out, 0, name + 6))
            vec_push(out, (struct found_name){.text = name + 6});
    }
}
