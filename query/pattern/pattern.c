/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/pattern/pattern.h"
#include "query/pattern/alternatives.h"
#include "query/pattern/chosen.h"
#include "query/pattern/listed.h"
#include "query/pattern/members.h"
#include "common/map.h"
#include "common/str.h"
#include "common/suggest.h"
#include "query/bind/expr.h"
#include "query/grammar/parse.h"
#include "common/names.h"
#include "common/shorten.h"
#include "query/query.h"

void matches_deinit(struct matches *m)
{
    free(m->scopes);
    free(m->contexts);
    free(m->problem);
    free(m->unknown);
    *m = (struct matches){0};
}

/* ---- one name against one pattern ---- */

enum stage { STAGE_WHOLE, STAGE_UNQUALIFIED, STAGE_GLOB, STAGE_REGEX, STAGE_PRINTED };

struct test {
    enum stage stage;
    const char *word;
    struct regex *regex;
    bool no_places; /* a wildcard or regular expression is of names alone */
};

/* Whether the word is the name as a terminal shows it, who leaves out what says least: `std::map<...>::find(...)`. Of
 * the forms that a name has, the first that is no wider than the word is it, or none is. */
static bool is_printed(const char *name, const char *word)
{
    static const char *const dots[] = {"\xe2\x80\xa6", "..."};

    for (size_t i = 0; i < sizeof dots / sizeof *dots; i++) {
        AUTO_STR struct str text = {0};

        name_shorten(&text, name, utf8_width(word), dots[i]);
        if (!strcmp(str_cstr(&text), word))
            return true;
    }
    return false;
}

static bool test_procedure(const struct test *q, const char *name)
{
    switch (q->stage) {
    case STAGE_WHOLE: return name_is(name, q->word);
    case STAGE_UNQUALIFIED: return strchr(name, ':') && name_ends(name, q->word);
    case STAGE_GLOB: return name_matches_glob(name, q->word);
    case STAGE_PRINTED: return is_printed(name, q->word);
    default: return regex_matches(q->regex, name);
    }
}

static bool test_path(const struct test *q, const char *path)
{
    switch (q->stage) {
    case STAGE_WHOLE: return path_ends(path, q->word);
    case STAGE_UNQUALIFIED:
    case STAGE_PRINTED: return false;
    case STAGE_GLOB: return path_matches_glob(path, q->word);
    default: return regex_matches(q->regex, path);
    }
}

/*
 * Is a wildcard or regular expression meant for loops, where names of procedures are looked for, too? All loops of
 * smooth.c have that in their place, and all that lies in a directory: who means them says `loop`, or the colon before
 * a line.
 */
static bool is_of_places(const char *text)
{
    const char *at = text;

    while (*(at += strcspn(at, ":")))
        if (at[1] == ':')
            at += 2;
        else if (at >= text + 2 && at[-1] == '?' && at[-2] == '(')
            at++;
        else
            return true;
    return strstr(text, "loop") != NULL;
}

/* Loops and lines: "loop at file.c:8" and "file.c:8", the file by the end of its path. */
static bool test_place(const struct test *q, const struct tree *t, const struct hqdb_scope *s)
{
    char text[PROGRAM_TEXT_ROOM];

    if (q->no_places)
        return false;
    if (*tree_text(t, s->name) && test_procedure(q, tree_text(t, s->name)))
        return true;
    snprintf(text, sizeof text, "loop at %.4096s:%u", path_base(tree_text(t, s->file)), s->line);
    if (s->kind == SCOPE_LOOP &&
        (q->stage == STAGE_WHOLE ? !strcmp(text, q->word) : q->stage != STAGE_UNQUALIFIED && test_path(q, text)))
        return true;
    snprintf(text, sizeof text, "%.4096s:%u", tree_text(t, s->file), s->line);
    return s->line && test_path(q, text);
}

/* The name of a member without its class, as debug information has it beside the symbol's, is no name of its own: who
 * asks for it means those of all classes. */
static bool is_unqualified(const struct test *q, const char *alias, const char *name)
{
    return q->stage == STAGE_WHOLE && strchr(name, ':') && name_ends(name, alias);
}

static bool test_aliases(const struct test *q, const struct tree *t, const struct hqdb_scope *s)
{
    struct db_list names = tree_aliases(t, s);

    for (size_t i = 0; i < names.len; i++) {
        const char *alias = db_string(t->db, names.data[i]);

        if (test_procedure(q, alias) && !is_unqualified(q, alias, tree_text(t, s->name)))
            return true;
    }
    return false;
}

static bool test_scope(const struct test *q, const struct tree *t, const struct hqdb_scope *s, struct map *seen)
{
    uint64_t *known;
    bool is_new;

    if (s->kind == SCOPE_LOOP || s->kind == SCOPE_LINE)
        return test_place(q, t, s);
    known = map_insert(seen, (uint64_t)(s->kind == SCOPE_FILE || s->kind == SCOPE_MODULE) << 32 | s->name, 0, &is_new);
    if (is_new)
        *known = s->kind == SCOPE_FILE || s->kind == SCOPE_MODULE ? test_path(q, tree_text(t, s->name))
                                                                  : test_procedure(q, tree_text(t, s->name));
    return *known || (s->alias_count && test_aliases(q, t, s));
}

static void test_all(const struct test *q, const struct tree *t, unsigned kinds, struct matches *out)
{
    struct map seen = {0};

    for (uint32_t i = 0; i < t->scope_count; i++)
        if ((kinds & KIND_BIT(t->scopes[i].kind)) && tree_instances(t, i).len + (t->scopes[i].kind >= SCOPE_CALL) > 0 &&
            test_scope(q, t, &t->scopes[i], &seen)) {
            out->scopes[i] = 1;
            out->scope_count++;
        }
    map_deinit(&seen);
}

/* ---- scopes ---- */

#define KINDS_CONTAINER (KIND_BIT(SCOPE_FILE) | KIND_BIT(SCOPE_MODULE))

static bool is_container(enum scope_kind kind)
{
    return kind == SCOPE_FILE || kind == SCOPE_MODULE;
}

static bool wants_procedures(unsigned kinds)
{
    return (kinds & KIND_BIT(SCOPE_PROCEDURE)) && !(kinds & KIND_BIT(SCOPE_FILE));
}

static void match_name(const struct tree *t, const struct pattern *p, unsigned kinds, struct matches *out)
{
    struct test q = {.word = p->text};
    enum stage last = p->wildcards ? STAGE_GLOB : STAGE_UNQUALIFIED;

    for (q.stage = STAGE_WHOLE; q.stage <= last && !out->scope_count; q.stage++) {
        q.no_places = q.stage == STAGE_GLOB && wants_procedures(kinds) && !is_of_places(p->text);
        test_all(&q, t, kinds, out);
    }
    if (!out->scope_count && strpbrk(p->text, "(<")) {
        q.stage = STAGE_PRINTED;
        test_all(&q, t, kinds, out);
    }
}

/* Files and load modules that matched stand for the procedures in them. */
static void take_procedures_within(const struct tree *t, struct matches *out)
{
    uint8_t *inside;

    if (!out->scope_count)
        return;
    inside = xcalloc(t->scope_count, 1);
    out->scope_count = 0;
    for (uint32_t i = 0; i < t->scope_count; i++) {
        uint32_t parent = tree_scope_parent(t, i);

        inside[i] = out->scopes[i] || (parent != HQDB_NONE && inside[parent]);
        out->scopes[i] = inside[i] && t->scopes[i].kind == SCOPE_PROCEDURE;
        out->scope_count += out->scopes[i];
    }
    free(inside);
}

/* ---- nothing matches ---- */

/* Names near to the one that was sought: whole and last components. */
static void suggest_names(const struct tree *t, unsigned kinds, struct arena *arena, struct suggest *near)
{
    struct map seen = {0};
    bool is_new;

    for (uint32_t i = 0; i < t->scope_count; i++) {
        const struct hqdb_scope *s = &t->scopes[i];
        const char *name, *last;
        size_t n;

        if (!(kinds & KIND_BIT(s->kind)) || s->kind == SCOPE_LOOP || s->kind == SCOPE_LINE || s->kind == SCOPE_ROOT)
            continue;
        map_insert(&seen, s->name, 0, &is_new);
        name = tree_text(t, s->name);
        if (!is_new || !*name || (tree_instances(t, i).len == 0 && s->kind < SCOPE_CALL))
            continue;
        if (s->kind == SCOPE_FILE || s->kind == SCOPE_MODULE) {
            suggest_add(near, path_base(name));
            continue;
        }
        last = name_last(name, &n);
        suggest_add(near, last == name && !last[n] ? name : arena_strndup(arena, last, n));
        struct db_list aliases = tree_aliases(t, s);

        for (size_t k = 0; k < aliases.len; k++)
            suggest_add(near, db_string(t->db, aliases.data[k]));
    }
    map_deinit(&seen);
}

static const char *shown_text(struct arena *arena, const struct pattern *p)
{
    return p->kind == PATTERN_REGEX   ? arena_printf(arena, "/%s/%s", p->text, p->ignore_case ? "i" : "")
           : p->kind == PATTERN_ID    ? arena_printf(arena, "@%s", p->text)
           : p->kind == PATTERN_ROW   ? arena_printf(arena, "#%u", p->row)
           : p->kind == PATTERN_GROUP ? arena_printf(arena, "group \"%s\"", p->text)
                                      : p->text;
}

/* Any of the ways in which the pattern may name it. */
static bool test_known(const void *arg, const char *text, bool is_path)
{
    const struct test *last = arg;

    if (last->stage == STAGE_REGEX)
        return is_path ? test_path(last, text) : test_procedure(last, text);
    for (struct test q = {.word = last->word}; q.stage <= last->stage; q.stage++)
        if (is_path ? test_path(&q, text) : test_procedure(&q, text))
            return true;
    return false;
}

/* Only procedures and load modules are known without samples. */
static bool is_known(const struct tree *t, const struct test *last, unsigned kinds, struct arena *arena,
                     struct suggest *near, const char **partly)
{
    return kinds & (KINDS_PROCEDURE | KIND_BIT(SCOPE_MODULE)) &&
           pattern_known(t, test_known, last, arena, near, partly);
}

static bool looks_like_regex(const char *name)
{
    return strstr(name, ".*") || strstr(name, ".+") || strpbrk(name, "^|");
}

/* Whether `phase "NAME"` would be one. */
static bool is_phase(const struct tree *t, const char *name)
{
    AUTO_FREE char *whole = xasprintf("phase %s", name);

    for (uint32_t i = 0; i < t->scope_count; i++)
        if (t->scopes[i].kind == SCOPE_PHASE && !strcmp(tree_text(t, t->scopes[i].name), whole))
            return true;
    return false;
}

/* `behind`: what is told behind the pattern. */
static struct hq_error *nothing(const struct query_env *env, const struct tree *t, const struct pattern *p,
                                const char *behind, unsigned kinds, struct regex *regex, struct matches *out)
{
    AUTO_STR struct str text = {0};
    AUTO(arena_deinit) struct arena arena = {0};
    struct test last = {.stage = regex          ? STAGE_REGEX
                                 : p->wildcards ? STAGE_GLOB
                                                : STAGE_UNQUALIFIED,
                        .word = p->text,
                        .regex = regex};
    bool named = p->kind == PATTERN_NAME;
    const char *partly = NULL;
    struct suggest near;

    suggest_init(&near, named ? p->text : "", 3);
    if (named)
        suggest_names(t, kinds, &arena, &near);
    if ((named || regex) && is_known(t, &last, kinds, &arena, named ? &near : NULL, &partly)) {
        out->problem = xasprintf("`%s` is in the program, but has no sample", shown_text(&arena, p));
        return NULL;
    }
    str_addf(&text, "nothing matches `%s`%s", shown_text(&arena, p), behind);
    if (named && kinds & KIND_BIT(SCOPE_PHASE) && is_phase(t, p->text))
        str_addf(&text, ", but there is a phase of that name: phase \"%s\"", p->text);
    else
        suggest_text(&near, &text);
    if (named && looks_like_regex(p->text))
        str_addf(&text, "; a regular expression stands in slashes: /%s/", p->text);
    if (query_setting(env, SETTING_STRICT))
        return place_error(&p->place, NULL, "%s", str_cstr(&text));
    out->problem = xstrdup(str_cstr(&text));
    if (partly)
        str_addf(&text, "; of %s not all procedures without samples are known", partly);
    out->unknown = str_steal(&text);
    return NULL;
}

/* ---- regular expressions ---- */

/* Told where nothing matches. */
struct told {
    const struct pattern *pattern;
    const char *behind;
};

static struct hq_error *match_regex(const struct query_env *env, const struct tree *t, const struct pattern *p,
                                    const struct told *told, unsigned kinds, struct matches *out)
{
    struct regex *regex = NULL;
    struct hq_error *err = regex_compile(p, &regex);

    if (err)
        return err;
    out->scopes = xcalloc(t->scope_count, 1);
    struct test q = {
        .stage = STAGE_REGEX, .regex = regex, .no_places = wants_procedures(kinds) && !is_of_places(p->text)};

    test_all(&q, t, kinds & ~KIND_BIT(SCOPE_LINE), out);
    err = regex_failure(regex);
    if (!err && matches_nothing(out))
        err = nothing(env, t, told->pattern, told->behind, kinds, regex, out);
    regex_destroy(regex);
    return err;
}

/* A part of the pattern by itself: `text` as a regular expression, `shown` in what is told. */
static struct hq_error *match_part(const struct query_env *env, const struct tree *t, const struct pattern *p,
                                   const char *text, const struct told *told, unsigned kinds, struct matches *m)
{
    struct pattern part = *p;

    part.text = text;
    return match_regex(env, t, &part, told, kinds, m);
}

/* Each name of a list is meant to be found. */
static struct hq_error *match_listed(const struct query_env *env, const struct tree *t, const struct pattern *p,
                                     unsigned kinds, const struct listed_names *names, struct matches *out)
{
    AUTO(arena_deinit) struct arena arena = {0};
    struct hq_error *err = NULL;

    for (size_t i = 0; i < names->len && !err && !out->unknown; i++) {
        struct pattern told = {.place = p->place, .kind = PATTERN_NAME, .text = names->data[i]};
        struct matches m = {0};

        err = match_part(env, t, p, arena_printf(&arena, "^\\Q%s\\E$", names->data[i]), &(struct told){&told, ""},
                         kinds, &m);
        if (!err && m.unknown) {
            out->problem = MEM_STEAL(m.problem);
            out->unknown = MEM_STEAL(m.unknown);
        }
        matches_deinit(&m);
    }
    return err;
}

/* Others look for what there is, so that the check of what they find is one; but who wrote it may have meant more. */
static struct hq_error *match_alternatives(const struct query_env *env, const struct tree *t, const struct pattern *p,
                                           unsigned kinds, struct matches *out)
{
    AUTO(arena_deinit) struct arena arena = {0};
    struct alternatives all = {0};
    struct hq_error *err = NULL;
    const char *behind = arena_printf(&arena, " of `%s`", shown_text(&arena, p));

    alternatives_in_regex(p->text, &arena, &all);
    for (size_t i = 0; i < all.len && !err && !out->problem; i++) {
        struct pattern told = *p;
        struct matches m = {0};

        told.kind = alternative_is_name(all.data[i].text) ? PATTERN_NAME : PATTERN_REGEX;
        told.text = all.data[i].text;
        err = match_part(env, t, p, all.data[i].regex, &(struct told){&told, behind}, kinds, &m);
        if (!err && m.unknown)
            out->problem = MEM_STEAL(m.problem);
        matches_deinit(&m);
    }
    vec_deinit(&all);
    return err;
}

static struct hq_error *match_whole_regex(const struct query_env *env, const struct tree *t, const struct pattern *p,
                                          unsigned kinds, struct matches *out)
{
    AUTO(arena_deinit) struct arena arena = {0};
    struct listed_names names = {0};
    struct hq_error *err = match_regex(env, t, p, &(struct told){p, ""}, kinds, out);

    listed_in_regex(p->text, &arena, &names);
    if (!err && !out->unknown && !matches_nothing(out))
        err = names.len     ? match_listed(env, t, p, kinds, &names, out)
              : env->judged ? match_alternatives(env, t, p, kinds, out)
                            : NULL;
    vec_deinit(&names);
    return err;
}

/* ---- interface ---- */

struct hq_error *pattern_resolve(struct query_env *env, const struct tree *t, const struct pattern *p, unsigned kinds,
                                 struct matches *out)
{
    struct hq_error *err = NULL;

    *out = (struct matches){0};
    if (p->kind == PATTERN_ROW) {
        HQ_TRY(match_row(env, t, p, kinds, out));
        if (out->scopes && wants_procedures(kinds) && is_container(env->last.data[p->row - 1].kind))
            take_procedures_within(t, out);
    } else if (p->kind == PATTERN_ID) {
        HQ_TRY(match_id(t, p, out));
    } else if (p->kind == PATTERN_GROUP) {
        err = members_match(env, t, p, kinds, out);
    } else if (p->kind == PATTERN_REGEX) {
        err = match_whole_regex(env, t, p, kinds, out);
    } else {
        out->scopes = xcalloc(t->scope_count, 1);
        match_name(t, p, kinds, out);
        if (!out->scope_count && wants_procedures(kinds)) {
            match_name(t, p, KINDS_CONTAINER, out);
            take_procedures_within(t, out);
        }
    }
    if (!err && matches_nothing(out) && !out->problem)
        err = nothing(env, t, p, "", kinds, NULL, out);
    if (err)
        matches_deinit(out);
    return err;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

uint32_t *matches_contexts(const struct matches *m, const struct tree *t, size_t *count)
{
    VEC(uint32_t) all = {0};

    if (!m->scopes) {
        vec_append(&all, m->contexts, m->context_count);
    } else {
        for (uint32_t i = 0; i < t->scope_count; i++)
            if (m->scopes[i]) {
                struct db_list l = tree_instances(t, i);

                vec_append(&all, l.data, l.len);
            }
        if (m->scope_count > 1)
            vec_sort(&all, by_number);
    }
    *count = all.len;
    return all.data;
}

uint8_t *matches_mark(const struct matches *m, const struct tree *t)
{
    uint8_t *mark = xcalloc(t->context_count + 1, 1);
    size_t n;
    AUTO_FREE uint32_t *list = matches_contexts(m, t, &n);

    for (size_t i = 0; i < n; i++)
        if (list[i] < t->context_count)
            mark[list[i]] = 1;
    return mark;
}
