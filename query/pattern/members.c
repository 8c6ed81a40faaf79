/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/pattern/members.h"
#include "common/map.h"
#include "common/names.h"
#include "common/suggest.h"
#include "query/grammar/parse.h"
#include "query/pattern/pattern.h"
#include <string.h>

static void __attribute__((format(printf, 2, 3))) members_note(struct group_members *g, const char *format, ...)
{
    AUTO_STR struct str text = {0};
    va_list ap;

    va_start(ap, format);
    str_vaddf(&text, format, ap);
    va_end(ap);
    g->note(g->arg, str_cstr(&text));
}

static bool path_is(const struct line_part *l, const char *path)
{
    const struct pattern *p = &l->part->pattern;

    if (l->regex)
        return regex_matches(l->regex, path);
    return path_ends(path, p->text) || (p->wildcards && path_matches_glob(path, p->text));
}

static bool is_line_of(struct line_part *l, const struct tree *t, uint32_t file, uint32_t line)
{
    const number_ranges *ranges = &l->part->lines;

    for (size_t i = 0; i < ranges->len; i++)
        if (line && line >= ranges->data[i].first && line <= ranges->data[i].last) {
            bool is_new;
            uint64_t *known = map_insert(&l->files, file, 0, &is_new);

            if (is_new)
                *known = path_is(l, tree_text(t, file));
            return *known;
        }
    return false;
}

bool members_have_line(struct group_members *g, uint32_t file, uint32_t line)
{
    vec_foreach(l, &g->lines)
        if (is_line_of(l, g->tree, file, line))
            return true;
    return false;
}

static struct hq_error *take_lines(struct group_members *g, const struct group_part *part)
{
    const struct tree *t = g->tree;
    struct line_part l = {.part = part};
    bool any = false;

    if (part->pattern.kind == PATTERN_REGEX)
        HQ_TRY(regex_compile(&part->pattern, &l.regex));
    for (uint32_t i = 0; i < t->scope_count; i++)
        if (t->scopes[i].kind == SCOPE_LINE && is_line_of(&l, t, t->scopes[i].file, t->scopes[i].line)) {
            g->scope[i] |= MEMBER_SCOPE;
            any = true;
        }
    for (uint32_t c = 0; c < t->context_count && !any; c++)
        any = is_line_of(&l, t, t->contexts[c].call_file, t->contexts[c].call_line);
    vec_push(&g->lines, l);
    g->found |= any;
    if (any)
        return NULL;
    if (query_setting(g->env, SETTING_STRICT))
        return place_error(&part->place, NULL,
                           t->old ? "a comparison has no lines" : "no line of this database is one of these");
    AUTO_FREE char *why = t->old ? xasprintf("a comparison has no lines: those of `%s` count for nothing in it",
                                             part->pattern.text)
                                 : xasprintf("no line of `%s` is one of those named", part->pattern.text);

    members_note(g, "group %s: %s", g->group->name, why);
    if (!g->unknown)
        g->unknown = MEM_STEAL(why);
    return NULL;
}

static uint64_t home_key(const struct tree *t, uint32_t scope)
{
    return (uint64_t)t->scopes[scope].name << 32 | t->scopes[scope].file;
}

/* All loops that match, and those inside of what matches. A region stands below the procedure that it is written in,
 * also where all copies of that were inlined, and are what matches. */
static void take_loops(struct group_members *g, const struct matches *m)
{
    const struct tree *t = g->tree;
    AUTO_FREE uint8_t *within = xcalloc((size_t)t->scope_count + 1, 1);
    struct map homes = {0};

    for (uint32_t i = 0; i < t->scope_count; i++)
        if (m->scopes[i] && t->scopes[i].kind == SCOPE_INLINE)
            map_put(&homes, home_key(t, i), 1);
    for (uint32_t i = 0; i < t->scope_count; i++) {
        uint32_t parent = tree_scope_parent(t, i);

        within[i] = m->scopes[i] || (parent != HQDB_NONE && within[parent]) ||
                    (parent != HQDB_NONE && t->scopes[i].kind == SCOPE_REGION &&
                     map_get(&homes, home_key(t, parent), 0));
        if (within[i] && t->scopes[i].kind == SCOPE_LOOP)
            g->scope[i] |= MEMBER_SCOPE;
    }
    map_deinit(&homes);
}

static struct hq_error *take_pattern(struct group_members *g, const struct group_part *part)
{
    static const unsigned kinds[] = {[PART_SCOPES] = KINDS_PATH,
                                     [PART_FILES] = KIND_BIT(SCOPE_FILE),
                                     [PART_MODULES] = KIND_BIT(SCOPE_MODULE),
                                     [PART_LOOPS] = KINDS_STATIC};
    struct matches m;

    HQ_TRY(pattern_resolve(g->env, g->tree, &part->pattern, kinds[part->kind], &m));
    if (m.problem)
        members_note(g, "group %s: %s", g->group->name, m.problem);
    g->found |= !m.unknown;
    char **unknown = part->pattern.kind == PATTERN_NAME && !part->pattern.wildcards ? &g->unknown_name : &g->unknown;
    if (m.unknown && !*unknown)
        *unknown = MEM_STEAL(m.unknown);
    if (m.scopes && part->kind == PART_LOOPS)
        take_loops(g, &m);
    else
        for (uint32_t i = 0; m.scopes && i < g->tree->scope_count; i++)
            if (m.scopes[i])
                g->scope[i] |= part->kind == PART_SCOPES ? MEMBER_SCOPE : MEMBER_CONTAINER;
    matches_deinit(&m);
    return NULL;
}

/* Circles were refused when the groups were defined. */
static struct hq_error *take_parts(struct group_members *g, const struct group *from)
{
    g->held[from - g->list.data] = 1;
    for (size_t i = 0; i < from->part_count; i++) {
        const struct group_part *part = &from->parts[i];

        if (part->kind == PART_GROUP) {
            const struct group *held = group_find(g->list, part->group);

            if (held && !g->held[held - g->list.data])
                HQ_TRY(take_parts(g, held));
        } else if (part->kind == PART_LINES) {
            HQ_TRY(take_lines(g, part));
        } else {
            HQ_TRY(take_pattern(g, part));
        }
    }
    return NULL;
}

struct hq_error *members_find(struct group_members *g)
{
    struct hq_error *error;

    g->scope = xcalloc((size_t)g->tree->scope_count + 1, 1);
    g->list = groups_defined(g->env);
    g->held = xcalloc(g->list.len + 1, 1);
    error = take_parts(g, g->group);
    vec_foreach(l, &g->lines)
        if (l->regex && !error)
            error = regex_failure(l->regex);
    return error;
}

const char *members_unknown(const struct group_members *g)
{
    return g->unknown_name ? g->unknown_name : g->found ? NULL : g->unknown;
}

void members_deinit(struct group_members *g)
{
    vec_foreach(l, &g->lines) {
        regex_destroy(l->regex);
        map_deinit(&l->files);
    }
    vec_deinit(&g->lines);
    free(g->scope);
    free(g->held);
    free(g->unknown);
    free(g->unknown_name);
}

/* ---- as a pattern ---- */

static struct hq_error *no_such_group(const struct query_env *env, const struct pattern *p, struct matches *out)
{
    struct group_list list = groups_defined(env);
    AUTO_STR struct str text = {0};
    struct suggest near;

    suggest_init(&near, p->text, 3);
    for (size_t i = 0; i < list.len; i++)
        suggest_add(&near, list.data[i].name);
    str_addf(&text, "there is no group `%s`", p->text);
    suggest_text(&near, &text);
    if (!list.len)
        str_add(&text, "; `set groups FILE` or `group NAME = ...` defines some");
    if (query_setting(env, SETTING_STRICT))
        return place_error(&p->place, NULL, "%s", str_cstr(&text));
    out->problem = xstrdup(str_cstr(&text));
    out->unknown = str_steal(&text);
    return NULL;
}

/* The first of what a group's parts do not find. */
static void keep_first(void *arg, const char *text)
{
    struct matches *out = arg;

    if (!out->problem)
        out->problem = xstrdup(text);
}

/* Marks the scopes in a file or load module that the pattern names. */
static void take_within(const struct tree *t, uint8_t *scope)
{
    for (uint32_t i = 0; i < t->scope_count; i++) {
        uint32_t parent = tree_scope_parent(t, i);

        if (parent != HQDB_NONE && scope[parent] & MEMBER_CONTAINER)
            scope[i] |= MEMBER_CONTAINER;
    }
}

static bool is_row(const struct tree *t, uint32_t i, uint8_t how, unsigned kinds)
{
    enum scope_kind kind = t->scopes[i].kind;
    bool container = kind == SCOPE_FILE || kind == SCOPE_MODULE;

    if (!(kinds & KIND_BIT(kind)))
        return false;
    return how & MEMBER_SCOPE || (how & MEMBER_CONTAINER && (container || kind == SCOPE_PROCEDURE));
}

struct hq_error *members_match(struct query_env *env, const struct tree *t, const struct pattern *p, unsigned kinds,
                               struct matches *out)
{
    const struct group *group = group_find(groups_defined(env), p->text);
    struct group_members g = {.env = env, .tree = t, .group = group, .note = keep_first, .arg = out};

    out->scopes = xcalloc((size_t)t->scope_count + 1, 1);
    if (!group)
        return no_such_group(env, p, out);
    struct hq_error *error = members_find(&g);

    if (!error && g.lines.len && !(kinds & KIND_BIT(SCOPE_LINE)))
        error = place_error(
            &p->place, NULL,
            "the group `%s` holds lines, which cannot stand here: `groups` and `flat by group` count them", p->text);
    if (!error)
        take_within(t, g.scope);
    for (uint32_t i = 0; !error && i < t->scope_count; i++) {
        out->scopes[i] = is_row(t, i, g.scope[i], kinds);
        out->scope_count += out->scopes[i];
    }
    const char *unknown = error ? NULL : members_unknown(&g);
    if (unknown)
        out->unknown = xasprintf("group %s: %s", p->text, unknown);
    if (!error && (unknown || !out->scope_count)) {
        free(out->problem);
        out->problem = unknown && out->scope_count ? xstrdup(out->unknown)
                                                   : xasprintf("nothing here is in the group `%s`", p->text);
    }
    members_deinit(&g);
    return error;
}
