/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/loop_rows.h"
#include "common/str.h"
#include "repl/baseline/baseline.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void loop_rows_deinit(struct loop_rows *l)
{
    intern_deinit(&l->procedures);
    vec_deinit(&l->counts);
    intern_deinit(&l->callees);
    loop_calls_deinit(&l->calls);
}

/* ---- one scope of a path ---- */

struct loop_scope {
    unsigned long number, count; /* 0: not told */
    const char *procedure;
    size_t length; /* of its name */
};

static const char *scope_end(const char *scope, const char *next)
{
    return next ? next - 3 : scope + strlen(scope);
}

static bool read_loop(const char *scope, const char *end, struct loop_scope *out)
{
    char *at;

    if (!str_begins(scope, "loop ") || !isdigit((unsigned char)scope[5]))
        return false;
    *out = (struct loop_scope){.number = strtoul(scope + 5, &at, 10)};
    if (*at == '/' && isdigit((unsigned char)at[1]))
        out->count = strtoul(at + 1, &at, 10);
    if (!str_begins(at, " of ") || at + 4 > end)
        return false;
    out->procedure = at + 4;
    out->length = (size_t)(end - out->procedure);
    return true;
}

static uint32_t number_of(const struct loop_rows *l, const struct loop_scope *s)
{
    AUTO_FREE char *name = xstrndup(s->procedure, s->length);

    return intern_find(&l->procedures, name);
}

enum as { AS_IT_IS, AS_BARE, AS_WHOLE, AS_CROSSED };

static enum as how(const struct loop_count *c)
{
    return c->several                                ? AS_WHOLE
           : c->crossed                              ? AS_CROSSED
           : c->bare && (c->count[0] || c->count[1]) ? AS_BARE
                                                     : AS_IT_IS;
}

static enum as how_of(const struct loop_rows *l, const struct loop_scope *s)
{
    uint32_t i = number_of(l, s);

    return i == INTERN_NONE ? AS_IT_IS : how(&l->counts.data[i - 1]);
}

/* ---- what is called ---- */

/* `scope` is what stands in the path below a loop: what is called there, or inlined, but for a loop in it. */
static void note_call(struct loop_rows *l, int side, uint32_t procedure, const struct loop_scope *loop,
                      const char *scope)
{
    const char *next = baseline_next_scope(scope), *name = scope + strcspn(scope, " ");
    size_t n = (size_t)(scope_end(scope, next) - name);
    struct loop_scope inner;

    if (read_loop(scope, scope_end(scope, next), &inner))
        return;
    loop_calls_add(&l->calls, side, procedure, (uint32_t)loop->number, intern_addn(&l->callees, name, n));
}

bool loop_rows_cross(struct loop_rows *l)
{
    AUTO(map_deinit) struct map crossed = {0};
    bool changed = false;

    loop_calls_cross(&l->calls, &crossed);
    for (uint32_t i = 0; i < l->counts.len; i++) {
        struct loop_count *c = &l->counts.data[i];
        enum as before = how(c);

        c->crossed |= map_find(&crossed, i + 1) != NULL;
        changed |= how(c) != before;
    }
    return changed;
}

/* ---- paths ---- */

bool loop_rows_note(struct loop_rows *l, int side, const char *path)
{
    bool changed = false;

    for (const char *at = path, *next; at; at = next) {
        struct loop_scope s;

        next = baseline_next_scope(at);
        if (!read_loop(at, scope_end(at, next), &s))
            continue;
        uint32_t i = intern_addn(&l->procedures, s.procedure, s.length), count = (uint32_t)s.count;

        while (l->counts.len < i)
            vec_push(&l->counts, (struct loop_count){0});
        struct loop_count *c = &l->counts.data[i - 1];
        enum as before = how(c);

        c->bare |= !count;
        for (int k = 0; k < 2 && count; k++)
            c->several |= c->count[k] && c->count[k] != count;
        c->count[side] = count ? count : c->count[side];
        changed |= how(c) != before;
        if (next)
            note_call(l, side, i, &s, next);
    }
    return changed;
}

/* A loop as another path has it; its number is 0 where nothing of it is left. */
typedef struct loop_scope as_scope(const struct loop_rows *l, struct loop_scope s);

/* Writes a path with other loops. Returns whether it ends in one of which nothing is left, which becomes *last. */
static bool write_path(const struct loop_rows *l, const char *path, as_scope *as, struct str *out,
                       struct loop_scope *last)
{
    bool left_out = false;

    for (const char *at = path, *next; at; at = next) {
        next = baseline_next_scope(at);
        const char *end = scope_end(at, next), *between = out->len ? " > " : "";
        bool is_loop = read_loop(at, end, last);

        if (is_loop)
            *last = as(l, *last);
        left_out = is_loop && !last->number;
        if (left_out)
            continue;
        if (!is_loop)
            str_addf(out, "%s%.*s", between, (int)(end - at), at);
        else if (last->count)
            str_addf(out, "%sloop %lu/%lu of %.*s", between, last->number, last->count, (int)last->length,
                     last->procedure);
        else
            str_addf(out, "%sloop %lu of %.*s", between, last->number, (int)last->length, last->procedure);
    }
    return left_out;
}

static struct loop_scope as_compared(const struct loop_rows *l, struct loop_scope s)
{
    enum as as = how_of(l, &s);

    if (as == AS_WHOLE || as == AS_CROSSED)
        s.number = 0;
    else if (as == AS_BARE)
        s.count = 0;
    return s;
}

static struct loop_scope as_noted(const struct loop_rows *l, struct loop_scope s)
{
    uint32_t i = s.count ? INTERN_NONE : number_of(l, &s);

    if (i != INTERN_NONE)
        s.count = l->counts.data[i - 1].count[0];
    return s;
}

const char *loop_rows_path(const struct loop_rows *l, struct arena *arena, const char *metric, const char *path)
{
    AUTO_STR struct str out = {0};
    struct loop_scope s;

    if (!l->counts.len || !*path)
        return path;
    if (write_path(l, path, as_compared, &out, &s) && !metric[baseline_metric_length(metric)])
        return NULL;
    return out.len ? arena_strdup(arena, str_cstr(&out))
                   : arena_printf(arena, "loop * of %.*s", (int)s.length, s.procedure);
}

const char *loop_rows_complete(const struct loop_rows *l, struct arena *arena, const char *path)
{
    AUTO_STR struct str out = {0};
    struct loop_scope s;

    if (!l->counts.len)
        return path;
    write_path(l, path, as_noted, &out, &s);
    return arena_strdup(arena, str_cstr(&out));
}

/* ---- what is said ---- */

static void tell_some(const struct loop_rows *l, enum as as, const char *of, struct arena *arena,
                      struct check_lines *lines)
{
    AUTO_STR struct str text = {0};
    size_t told = 0, more = 0;
    enum { MOST = 3 };

    for (uint32_t i = 0; i < l->counts.len; i++) {
        const struct loop_count *c = &l->counts.data[i];

        if (how(c) != as)
            continue;
        if (told == MOST) {
            more++;
            continue;
        }
        str_addf(&text, "%s%s", told++ ? ", " : "", intern_str(&l->procedures, i + 1));
        if (as == AS_WHOLE && c->count[0] && c->count[1])
            str_addf(&text, " (%u, now %u)", c->count[0], c->count[1]);
    }
    if (more)
        str_addf(&text, " and %zu more", more);
    if (told)
        vec_push(lines, arena_printf(arena, of, str_cstr(&text)));
}

void loop_rows_tell(const struct loop_rows *l, struct arena *arena, struct check_lines *lines)
{
    tell_some(l, AS_WHOLE, "judged as a whole are the loops of %s: which is which nobody knows", arena, lines);
    tell_some(l, AS_CROSSED,
              "judged as a whole are the loops of %s: they call what others of them called, so which is which nobody "
              "knows",
              arena, lines);
    tell_some(l, AS_BARE,
              "known by their numbers alone are the loops of %s: of one side nothing tells how many there are, so one "
              "that was added makes them others",
              arena, lines);
}
