/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/complete.h"
#include "query/grammar/expected.h"
#include "query/output.h"
#include "repl/help.h"
#include "repl/saved.h"
#include <glob.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct completion {
    const struct session *session;
    struct arena *arena;
    struct candidates *out;
    const char *word;           /* what is typed of it, without an opening quote */
    size_t length;
    char quote;                 /* before the word, 0: none */
};

static void add(struct completion *c, const char *text, const char *help)
{
    if (strncasecmp(text, c->word, c->length))
        return;
    if (c->out->len >= CANDIDATES_MAX) {
        c->out->more = true;
        return;
    }
    vec_foreach (other, c->out)
        if (!strcmp(other->text, text))
            return;
    vec_push(c->out, (struct candidate){arena_strdup(c->arena, text), help ? arena_strdup(c->arena, help) : NULL});
}

/* ---- from tables ---- */

/* "another word for `tree`" */
static const char *same_as(struct completion *c, const char *name)
{
    return arena_printf(c->arena, "another word for `%s`", name);
}

static const char *view_help(struct completion *c, const char *name)
{
    for (int i = 0; i < VIEW_KINDS; i++) {
        const struct view_word *v = &view_words[i];

        if (!strcmp(v->name, name))
            return v->summary;
        for (int k = 0; k < 3 && v->others[k]; k++)
            if (!strcmp(v->others[k], name))
                return same_as(c, v->name);
    }
    return NULL;
}

static const char *clause_help(struct completion *c, const char *name)
{
    for (int i = 0; i < CLAUSE_KINDS; i++) {
        const struct clause_word *w = &clause_words[i];

        if (!strcmp(w->name, name))
            return w->summary;
        if (w->other && !strcmp(w->other, name))
            return i == CLAUSE_THROUGH ? "only samples whose call path does not match" : same_as(c, w->name);
    }
    return NULL;
}

static const char *statement_help(const char *name)
{
    for (int i = 0; i < STATEMENT_KINDS; i++)
        if (statement_words[i].name && !strcmp(statement_words[i].name, name))
            return statement_words[i].summary;
    return NULL;
}

static const char *item_help(struct completion *c, const struct expected *e)
{
    switch (e->kind) {
    case EXPECTED_VIEW: return view_help(c, e->text);
    case EXPECTED_CLAUSE: return clause_help(c, e->text);
    case EXPECTED_KEYWORD: return statement_help(e->text);
    default: return NULL;
    }
}

static void add_functions(struct completion *c)
{
    for (int i = 0; i < FUNCTION_KINDS; i++)
        add(c, arena_printf(c->arena, "%s(", function_words[i].name), function_words[i].summary);
}

static void add_attributes(struct completion *c)
{
    for (int i = 0; i < ATTRIBUTE_KINDS; i++)
        add(c, attribute_words[i].name, attribute_words[i].summary);
}

static void add_settings(struct completion *c)
{
    for (int i = 0; i < SETTING_KINDS; i++)
        add(c, setting_words[i].name, setting_words[i].summary);
}

static void add_formats(struct completion *c)
{
    for (const struct output_format *f = output_formats; f->name; f++)
        add(c, f->name, f->summary);
}

static void add_help_word(void *arg, const char *word)
{
    add(arg, word, NULL);
}

static void add_saved(void *arg, const char *name, const char *path)
{
    AUTO_FREE char *summary = saved_summary(path);

    add(arg, name, summary);
}

/* ---- from the database ---- */

static void add_metrics(struct completion *c, const char *sigil)
{
    const struct db *db = c->session->env.db;
    size_t count = db ? db->metric_count : 0;

    for (size_t m = 0; m < count + c->session->env.lets.len; m++) {
        const char *name = m < count ? db_string(db, db->metrics[m].name) : c->session->env.lets.data[m - count].name;

        add(c, arena_printf(c->arena, "%s%s", sigil, name), *sigil ? "its total" : "inclusive");
        add(c, arena_printf(c->arena, "%s%s.x", sigil, name), *sigil ? "its total" : "exclusive");
    }
}

static bool wanted(const struct db *db, const struct hqdb_scope *scope, enum name_kind names)
{
    (void)db;
    switch (names) {
    case NAMES_FILE: return scope->kind == SCOPE_FILE;
    case NAMES_MODULE: return scope->kind == SCOPE_MODULE;
    case NAMES_PROCEDURE: case NAMES_ANY: return scope->kind == SCOPE_PROCEDURE || scope->kind == SCOPE_INLINE;
    }
    return false;
}

/* A name as the language wants it: in quotes unless it is a bare word. The closing quote is added, too. */
static const char *spelled(struct completion *c, const char *name)
{
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:~$";

    if (c->quote)
        return arena_printf(c->arena, "%s%c", name, c->quote);
    if (*name && !name[strspn(name, bare)] && !strchr("0123456789.:$", *name))
        return name;
    return arena_printf(c->arena, "\"%s\"", name);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct candidate *)a)->text, ((const struct candidate *)b)->text);
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

static void add_spelled(struct completion *c, const char *name)
{
    size_t length = c->length;

    /* A quote that is put before the word would hide that it fits. */
    c->length = 0;
    add(c, spelled(c, name), NULL);
    c->length = length;
}

static void add_name(struct completion *c, const char *name)
{
    const char *last;
    size_t last_len, len;

    if (!*name || strpbrk(name, "\"'"))
        return;
    len = parts_of(name, &last, &last_len);
    if (!strncmp(name, c->word, c->length))
        /* Arguments only for who has begun to type them. */
        add_spelled(c, c->length > len ? name : arena_strndup(c->arena, name, len));
    else if (last_len >= c->length && !strncmp(last, c->word, c->length))
        add_spelled(c, arena_strndup(c->arena, last, last_len));
}

static void add_scopes(struct completion *c, enum name_kind names)
{
    const struct db *db = c->session->env.db;
    size_t first = c->out->len;

    for (size_t i = 0; db && i < db->scope_count && !c->out->more; i++)
        if (wanted(db, &db->scopes[i], names))
            add_name(c, db_string(db, db->scopes[i].name));
    if (c->out->len > first)
        qsort(c->out->data + first, c->out->len - first, sizeof *c->out->data, by_text);
}

static void add_profiles(struct completion *c, bool ranks)
{
    const struct db *db = c->session->env.db;

    for (size_t i = 0; db && i < db->profile_count; i++) {
        const struct hqdb_profile *p = &db->profiles[i];

        if (!ranks || p->rank >= 0)
            add(c, arena_printf(c->arena, "%d", ranks ? p->rank : (int)p->thread), NULL);
    }
}

/* ---- from the file system ---- */

static void add_files(struct completion *c)
{
    AUTO_FREE char *pattern = xasprintf("%.*s*", (int)c->length, c->word);
    glob_t found;

    if (glob(pattern, GLOB_MARK | GLOB_TILDE, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc && !c->out->more; i++) {
        const char *path = found.gl_pathv[i];

        c->out->open |= path[strlen(path) - 1] == '/';
        add(c, path, NULL);
    }
    globfree(&found);
}

static void add_databases(struct completion *c)
{
    vec_foreach (d, &c->session->databases)
        add(c, d->alias, d->path);
    add_files(c);
}

/* ---- all of it ---- */

static void add_kind(struct completion *c, const struct expected *e, struct str *kinds)
{
    switch (e->kind) {
    case EXPECTED_KEYWORD: case EXPECTED_VIEW: case EXPECTED_CLAUSE: add(c, e->text, item_help(c, e)); return;
    case EXPECTED_FUNCTION: add_functions(c); return;
    case EXPECTED_ATTRIBUTE: add_attributes(c); return;
    case EXPECTED_SETTING: add_settings(c); return;
    case EXPECTED_METRIC: add_metrics(c, ""); return;
    case EXPECTED_TOTAL: add_metrics(c, "@"); return;
    case EXPECTED_PATTERN:
        /* All the names of a program are no answer to an empty word. */
        if (c->length)
            add_scopes(c, e->names);
        else
            str_addf(kinds, "%s%s", kinds->len ? ", " : "", expected_text(e));
        return;
    case EXPECTED_RANKS: add_profiles(c, true); return;
    case EXPECTED_THREADS: add_profiles(c, false); return;
    case EXPECTED_FORMAT: add_formats(c); return;
    case EXPECTED_DATABASE: add_databases(c); return;
    case EXPECTED_OUTPUT_FILE: case EXPECTED_SCRIPT_FILE: add_files(c); return;
    case EXPECTED_SAVED_QUERY: saved_each(add_saved, c); return;
    case EXPECTED_HELP_WORD: help_each(add_help_word, c); return;
    case EXPECTED_END: return;
    case EXPECTED_MARK: case EXPECTED_REGEX: case EXPECTED_STRING: case EXPECTED_NUMBER: case EXPECTED_PERCENT:
    case EXPECTED_TIME: case EXPECTED_OPERATOR: case EXPECTED_NEW_NAME: case EXPECTED_COMMAND:
        if (!c->length)
            str_addf(kinds, "%s%s", kinds->len ? ", " : "", expected_text(e));
        return;
    }
}

/* What may stand in quotes. */
static bool is_name(const struct expected *e)
{
    switch (e->kind) {
    case EXPECTED_PATTERN: case EXPECTED_DATABASE: case EXPECTED_OUTPUT_FILE: case EXPECTED_SCRIPT_FILE: return true;
    default: return false;
    }
}

void complete(const struct session *s, const char *text, struct arena *arena, struct candidates *out)
{
    struct expected_place place;
    AUTO_STR struct str kinds = {0};
    size_t length = strlen(text);

    grammar_expected(text, length, &place);
    out->start = place.start;
    struct completion c = {
        .session = s, .arena = arena, .out = out, .word = text + place.start, .length = length - place.start,
        .quote = place.quoted && place.start ? text[place.start - 1] : '\0',
    };

    for (size_t i = 0; i < place.set.len; i++)
        if (!c.quote || is_name(&place.set.items[i]))
            add_kind(&c, &place.set.items[i], &kinds);
    /* A function goes on with its argument. */
    out->open |= out->len == 1 && strchr(out->data[0].text, '(');
    if (kinds.len)
        out->kinds = arena_strdup(arena, kinds.s);
}
