/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/complete_names.h"
#include "common/file.h"
#include "common/vec.h"
#include <stdlib.h>
#include <string.h>

/* Several scopes may have one name: so many more of them are kept than names are wanted. */
enum { KEPT_PER_NAME = 16 };

struct kept { int64_t cost; uint32_t scope; };

struct search {
    const struct db *db;
    enum name_kind kind;
    const char *prefix;
    size_t length, room;
    int64_t least;              /* what costs less is not among the costliest */
    bool dropped;
    VEC(struct kept) kept;
};

static bool wanted(const struct search *s, uint32_t kind)
{
    switch (s->kind) {
    case NAMES_FILE: return kind == SCOPE_FILE;
    case NAMES_MODULE: return kind == SCOPE_MODULE;
    case NAMES_PROCEDURE: case NAMES_ANY: return kind == SCOPE_PROCEDURE || kind == SCOPE_INLINE;
    }
    return false;
}

/*
 * std::vector<int>::push_back(int) -> std::vector<int>::push_back, and *last is push_back: the language finds it by these, too.
 * Returns the length of the name without its arguments.
 */
static size_t parts_of(const char *name, const char **last, size_t *last_len)
{
    const char *start = name, *p = name;
    int nested = 0;

    /* A parenthesis that begins a part is (anonymous namespace). */
    for (; *p; p++) {
        if (*p == '<')
            nested++;
        else if (*p == '>' && nested)
            nested--;
        else if (!nested && p[0] == ':' && p[1] == ':')
            start = p + 2;
        else if (!nested && *p == '(' && p != start && !(p - start >= 8 && !strncmp(p - 8, "operator()", 10)))
            break;
    }
    *last = start;
    *last_len = (size_t)(p - start);
    const char *template = memchr(start, '<', *last_len);

    if (template && template > start)
        *last_len = (size_t)(template - start);
    return (size_t)(p - name);
}

/* What is offered for a scope; NULL if it does not begin with the prefix. Without an arena: only whether it does. */
static const char *offer(const struct search *s, const char *name, struct arena *arena)
{
    bool whole = !strncmp(name, s->prefix, s->length);
    const char *last;
    size_t last_len, len;

    if (!*name || strpbrk(name, "\"'") || (!whole && !strstr(name, s->prefix)))
        return NULL;
    if (s->kind == NAMES_FILE || s->kind == NAMES_MODULE) {
        last = file_basename(name);
        return !strncmp(last, s->prefix, s->length) && *last ? last : whole ? name : NULL;
    }
    if (whole && !arena)
        return name;
    len = parts_of(name, &last, &last_len);
    if (whole)
        /* Arguments only for who has begun to type them. */
        return s->length > len ? name : arena_strndup(arena, name, len);
    if (last_len < s->length || strncmp(last, s->prefix, s->length))
        return NULL;
    return arena ? arena_strndup(arena, last, last_len) : last;
}

static int costliest_first(const void *pa, const void *pb)
{
    const struct kept *a = pa, *b = pb;

    return a->cost != b->cost ? (a->cost < b->cost) - (a->cost > b->cost) : (a->scope > b->scope) - (a->scope < b->scope);
}

static void sort_kept(struct search *s)
{
    if (s->kept.len)
        qsort(s->kept.data, s->kept.len, sizeof *s->kept.data, costliest_first);
}

static void keep(struct search *s, uint32_t scope)
{
    const struct hqdb_statistics *all = s->db->metric_count ? db_scope_statistics(s->db, 0, scope) : NULL;
    struct kept k = {all ? all->sum : 0, scope};

    if (s->dropped && k.cost <= s->least)
        return;
    if (!offer(s, db_string(s->db, s->db->scopes[scope].name), NULL))
        return;
    vec_push(&s->kept, k);
    if (s->kept.len < 2 * s->room)
        return;
    sort_kept(s);
    s->kept.len = s->room;
    s->least = vec_last(&s->kept).cost;
    s->dropped = true;
}

static bool is_there(const struct found_names *out, size_t from, const char *text)
{
    for (size_t i = from; i < out->len; i++)
        if (!strcmp(out->data[i].text, text))
            return true;
    return false;
}

void names_begin(const struct db *db, enum name_kind kind, const char *prefix, size_t most, struct arena *arena, struct found_names *out)
{
    struct search s = {.db = db, .kind = kind, .prefix = prefix, .length = strlen(prefix), .room = most * KEPT_PER_NAME};
    size_t first = out->len;

    for (size_t i = 0; i < db->scope_count; i++)
        if (wanted(&s, db->scopes[i].kind))
            keep(&s, (uint32_t)i);
    sort_kept(&s);
    out->more |= s.dropped;
    vec_foreach (k, &s.kept) {
        const char *text = offer(&s, db_string(db, db->scopes[k->scope].name), arena);

        if (!text || is_there(out, first, text))
            continue;
        if (out->len - first >= most) {
            out->more = true;
            break;
        }
        vec_push(out, (struct found_name){text, k->cost});
    }
    vec_deinit(&s.kept);
}
