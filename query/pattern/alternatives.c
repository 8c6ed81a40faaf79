/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/pattern/alternatives.h"
#include "common/str.h"
#include <ctype.h>
#include <string.h>

enum { DEPTH_MAX = 1000 };

/* Between two bounds of a list of alternatives. */
struct stretch {
    const char *from, *to;
};

struct list {
    VEC(struct stretch) of;
    struct stretch all; /* with the brackets around it, if there are any */
};

struct reader {
    const char *at;
    unsigned depth;
    bool plain[DEPTH_MAX]; /* by depth: the group is `(` or `(?:` */
    struct list top, group;
    VEC(struct list) groups; /* those at the top that have several alternatives */
};

static void begin(struct list *l, const char *all, const char *first)
{
    vec_clear(&l->of);
    l->all.from = all;
    vec_push(&l->of, (struct stretch){first, NULL});
}

static void divide(struct list *l, const char *at, const char *next)
{
    vec_last(&l->of).to = at;
    if (next)
        vec_push(&l->of, (struct stretch){next, NULL});
}

/* From behind the backslash. NULL: a reference to a group, whose number or content is another without the others. */
static const char *skip_escape(const char *at)
{
    if (*at == 'Q') {
        const char *end = strstr(at, "\\E");

        return end ? end + 2 : at + strlen(at);
    }
    if (!*at || isdigit((unsigned char)*at) || strchr("gk", *at))
        return NULL;
    return at + 1;
}

/* From behind the [. */
static const char *skip_class(const char *at)
{
    at += *at == '^';
    at += *at == ']';
    while (*at && *at != ']') {
        if (*at == '[' && at[1] == ':' && strstr(at + 2, ":]"))
            at = strstr(at + 2, ":]") + 2;
        else
            at += *at == '\\' && at[1] ? 2 : 1;
    }
    return *at ? at + 1 : NULL;
}

/* From behind the bracket. NULL: a group that says how others are read, or that others refer to. */
static const char *enter(struct reader *r, const char *at)
{
    const char *open = at - 1;
    bool plain = *at != '?' && *at != '*';

    if (!plain) {
        const char *known[] = {"?:", "?=", "?!", "?<=", "?<!", "?>"};
        size_t k = 0;

        while (k < sizeof known / sizeof *known && !str_begins(at, known[k]))
            k++;
        if (k == sizeof known / sizeof *known)
            return NULL;
        plain = k == 0;
        at += strlen(known[k]);
    }
    if (++r->depth >= DEPTH_MAX)
        return NULL;
    r->plain[r->depth] = plain;
    if (r->depth == 1)
        begin(&r->group, open, at);
    return at;
}

/* From behind the bracket. What is repeated may be another alternative each time. */
static const char *leave(struct reader *r, const char *at)
{
    if (!r->depth)
        return NULL;
    if (r->depth-- == 1) {
        divide(&r->group, at - 1, NULL);
        r->group.all.to = at;
        if (r->plain[1] && r->group.of.len > 1 && (!*at || !strchr("*+{", *at))) {
            vec_push(&r->groups, r->group);
            r->group = (struct list){0};
        }
    }
    return at;
}

static const char *step(struct reader *r)
{
    const char *at = r->at + 1;

    switch (*r->at) {
    case '\\': return skip_escape(at);
    case '[': return skip_class(at);
    case '(': return enter(r, at);
    case ')': return leave(r, at);
    case '|':
        if (r->depth < 2)
            divide(r->depth ? &r->group : &r->top, r->at, at);
        return at;
    default: return at;
    }
}

static const char *text_of(struct arena *arena, const struct stretch *s)
{
    return arena_strndup(arena, s->from, (size_t)(s->to - s->from));
}

static void add_top(const struct reader *r, const struct stretch *whole, struct arena *arena, struct alternatives *out)
{
    if (r->top.of.len > 1) {
        const char *text = text_of(arena, whole);

        vec_push(out, (struct alternative){text, text});
    }
    vec_foreach(g, &r->groups) {
        if (g->all.from < whole->from || g->all.to > whole->to)
            continue;
        const char *before = text_of(arena, &(struct stretch){whole->from, g->all.from});
        const char *after = text_of(arena, &(struct stretch){g->all.to, whole->to});

        vec_foreach(s, &g->of) {
            const char *text = text_of(arena, s);

            vec_push(out, (struct alternative){text, arena_printf(arena, "%s(?:%s)%s", before, text, after)});
        }
    }
}

void alternatives_in_regex(const char *regex, struct arena *arena, struct alternatives *out)
{
    struct reader r = {.at = regex};

    begin(&r.top, regex, regex);
    while (r.at && *r.at)
        r.at = step(&r);
    if (r.at && !r.depth) {
        divide(&r.top, r.at, NULL);
        vec_foreach(s, &r.top.of)
            add_top(&r, s, arena, out);
    }
    vec_foreach(g, &r.groups)
        vec_deinit(&g->of);
    vec_deinit(&r.groups);
    vec_deinit(&r.group.of);
    vec_deinit(&r.top.of);
}

bool alternative_is_name(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != ':')
            return false;
    return *text != 0;
}
