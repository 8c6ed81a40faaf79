/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/prompt/complete.h"
#include "common/str.h"
#include "query/grammar/expected.h"
#include "query/grammar/lexer.h"
#include "query/pattern/group.h"
#include "query/output.h"
#include "query/table.h"
#include "repl/prompt/complete_add.h"
#include "repl/prompt/complete_names.h"
#include "repl/help/help.h"
#include "repl/saved.h"
#include <limits.h>
#include <string.h>
#include <strings.h>

/* Names that are offered: to an empty word the costliest few, else as many as one looks through. */
enum { NAMES_FIRST = 20, NAMES_MAX = 60 };

void completion_push(struct completion *c, const char *text, const char *help)
{
    if (c->out->len >= CANDIDATES_MAX) {
        c->out->more = true;
        return;
    }
    vec_foreach(other, c->out)
        if (!strcmp(other->text, text))
            return;
    vec_push(c->out, (struct candidate){arena_strdup(c->arena, text), help ? arena_strdup(c->arena, help) : NULL});
}

void completion_add(struct completion *c, const char *text, const char *help)
{
    if (!strncasecmp(text, c->word, c->length))
        completion_push(c, text, help);
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
        if (str_begins(v->name, "trace ") && !strcmp(v->name + 6, name))
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
            return w->other_summary ? w->other_summary : same_as(c, w->name);
    }
    return NULL;
}

/* Words that have no row of their own in the tables. */
static const char *keyword_help(const char *name)
{
    static const struct {
        const char *name, *help;
    } words[] = {
        {"of", "of which procedure, loop, file or load module"},
        {"asc", "smallest first"},
        {"desc", "largest first"},
        {"on", NULL},
        {"off", NULL},
        {"and", "both hold"},
        {"or", "one of them holds"},
        {"not", "it does not hold"},
        {"to", "the file that the result is written to"},
        {"iteration", "iteration N of PATTERN: while one visit lasts"},
        {"rows", "how many rows there are: rows <= 3"},
        {"all", "it holds for all rows (default)"},
        {"any", "for at least one row"},
        {"no", "for none; no rows: there are none"},
        {"thread", "each thread (default)"},
        {"rank", "each MPI rank"},
        {"host", "each host"},
        {"total", "of all samples (default)"},
        {"shown", "of the rows that are shown"},
        {"parent", "of the row above"},
        {"exclusive", "the same as x"},
        {"x", "the scope alone"},
        {"inclusive", "the scope and what it calls"},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].name, name))
            return words[i].help;
    return NULL;
}

static const char *statement_help(const char *name)
{
    for (int i = 0; i < STATEMENT_KINDS; i++)
        if (statement_words[i].name && !strcmp(statement_words[i].name, name))
            return statement_words[i].summary;
    return keyword_help(name);
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
        completion_add(c, arena_printf(c->arena, "%s(", function_words[i].name), function_words[i].summary);
}

static void add_attributes(struct completion *c)
{
    for (int i = 0; i < ATTRIBUTE_KINDS; i++)
        completion_add(c, attribute_words[i].name, attribute_words[i].summary);
}

static void add_settings(struct completion *c)
{
    for (int i = 0; i < SETTING_KINDS; i++)
        completion_add(c, setting_words[i].name, setting_words[i].summary);
}

static void add_formats(struct completion *c)
{
    for (const struct output_format *f = output_formats; f->name; f++)
        completion_add(c, f->name, f->summary);
}

static void add_help_word(void *arg, const char *word)
{
    completion_add(arg, word, NULL);
}

static void add_saved(void *arg, const char *name, const char *path)
{
    AUTO_FREE char *summary = saved_summary(path);

    completion_add(arg, name, summary);
}

/* ---- from the database ---- */

static void add_metric(struct completion *c, const char *before, const char *name, const char *inclusive,
                       const char *exclusive)
{
    completion_add(c, arena_printf(c->arena, "%s%s", before, name), inclusive);
    completion_add(c, arena_printf(c->arena, "%s%s.x", before, name), exclusive);
}

static void add_metrics(struct completion *c, bool totals)
{
    const struct db *db = c->session->env.db;
    size_t count = db ? db->metric_count : 0;
    /* The two sides of a comparison: where there is one, or who types them knows why. */
    bool sides = !totals && (c->length || strcasestr(c->text, "compare with") || strcasestr(c->text, "explain"));

    for (size_t m = 0; m < count + c->session->env.lets.len; m++) {
        const char *name = m < count ? db_string(db, db->metrics[m].name) : c->session->env.lets.data[m - count].name;

        if (totals) {
            add_metric(c, "@", name, "its total", "its total");
            continue;
        }
        add_metric(c, "", name, "inclusive", "exclusive");
        if (c->length && *c->word == '$') {
            completion_add(c, arena_printf(c->arena, "$%zu", 2 * m + 1), arena_printf(c->arena, "%s, inclusive", name));
            completion_add(c, arena_printf(c->arena, "$%zu", 2 * m + 2), arena_printf(c->arena, "%s, exclusive", name));
        }
        if (sides && m < count) {
            add_metric(c, "delta.", name, "difference to the other database", "difference, exclusive");
            add_metric(c, "old.", name, "in the other database", "in the other database, exclusive");
        }
    }
}

/* In quotes unless it is a bare word; a word that is in quotes already gets the closing one. */
static void add_spelled(struct completion *c, const char *name, bool quoted, const char *help)
{
    const char *text = c->quote ? arena_printf(c->arena, "%s%c", name, c->quote)
                       : quoted || !is_bare_pattern(name) || strpbrk(name, "*?")
                           ? arena_printf(c->arena, "\"%s\"", name)
                           : name;

    completion_push(c, text, help);
}

/* cputime 41.2% */
static const char *share_of(struct completion *c, int64_t cost)
{
    const struct db *db = c->session->env.db;
    int64_t total = db->metric_count ? db->sums[0][db->frame_count] : 0;

    if (total <= 0 || cost <= 0)
        return NULL;
    return arena_printf(c->arena, "%s %.1f%%", db_string(db, db->metrics[0].name),
                        100.0 * (double)cost / (double)total);
}

static void add_names(struct completion *c, enum name_kind kind, bool quoted)
{
    struct found_names found = {0};

    if (!c->session->env.db)
        return;
    names_begin(c->session->env.db, kind, c->word, c->length ? NAMES_MAX : NAMES_FIRST, c->arena, &found);
    vec_foreach(name, &found)
        add_spelled(c, name->text, quoted, share_of(c, name->cost));
    c->out->more |= found.more;
    vec_deinit(&found);
}

/* #1: rows of the last result. */
static void add_rows(struct completion *c)
{
    for (size_t i = 0; i < c->session->env.last.len && !c->out->more; i++)
        completion_add(c, arena_printf(c->arena, "#%zu", i + 1), c->session->env.last.data[i].name);
}

/* Where any scope may stand: procedures, and who has begun a word that is none may mean a file or a load module. */
static void add_scopes(struct completion *c, enum name_kind kind)
{
    size_t before = c->out->len;

    if (c->length && *c->word == '#') {
        add_rows(c);
        return;
    }
    add_names(c, kind, false);
    if (kind != NAMES_ANY || !c->length || c->out->len > before)
        return;
    add_names(c, NAMES_FILE, false);
    add_names(c, NAMES_MODULE, false);
}

static void add_hosts(struct completion *c)
{
    const struct db *db = c->session->env.db;

    for (size_t i = 0; db && i < db->profile_count && !c->out->more; i++) {
        const char *host = db_string(db, db->profiles[i].host);

        if (!strncmp(host, c->word, c->length))
            add_spelled(c, host, true, NULL);
    }
}

static void add_kinds(struct completion *c)
{
    for (int i = 0; i < SCOPE_KINDS; i++) {
        const char *name = scope_kind_name((enum scope_kind)i);

        if (i != SCOPE_PARTIAL && !strncasecmp(name, c->word, c->length))
            add_spelled(c, name, true, NULL);
    }
}

static void add_groups(struct completion *c, bool quoted)
{
    struct group_list groups = groups_defined(&c->session->env);

    for (size_t i = 0; i < groups.len && !c->out->more; i++)
        if (!strncmp(groups.data[i].name, c->word, c->length))
            add_spelled(c, groups.data[i].name, quoted, groups.data[i].origin);
}

/* Offers the names behind `phase`; or, where any scope may stand, the whole of it. */
static void add_phases(struct completion *c, bool whole)
{
    struct found_names found = {0};

    if (c->session->env.db)
        names_phases(c->session->env.db, &found);
    vec_foreach(name, &found)
        if (whole)
            completion_add(c, arena_printf(c->arena, "phase \"%s\"", name->text), NULL);
        else if (!strncmp(name->text, c->word, c->length))
            add_spelled(c, name->text, true, NULL);
    vec_deinit(&found);
}

/* Offers the values that an attribute can have. */
static void add_values(struct completion *c, const char *attribute)
{
    switch (find_attribute(attribute)) {
    case ATTRIBUTE_KIND: add_kinds(c); return;
    case ATTRIBUTE_NAME: add_names(c, NAMES_PROCEDURE, true); return;
    case ATTRIBUTE_FILE: add_names(c, NAMES_FILE, true); return;
    case ATTRIBUTE_MODULE: add_names(c, NAMES_MODULE, true); return;
    case ATTRIBUTE_HOST: add_hosts(c); return;
    case ATTRIBUTE_GROUP: add_groups(c, true); return;
    default: return;
    }
}

static bool has_number(const struct db *db, size_t i, enum expected_kind what)
{
    if (what == EXPECTED_RANKS)
        return db->profiles[i].rank >= 0;
    return db_is_queue(db, (uint32_t)i) == (what == EXPECTED_DEVICES);
}

static void add_profiles(struct completion *c, enum expected_kind what, struct str *sorts)
{
    const struct db *db = c->session->env.db;
    int least = INT_MAX, most = -1;

    for (size_t i = 0; db && i < db->profile_count; i++) {
        int number = what == EXPECTED_RANKS ? db->profiles[i].rank : (int)(db->profiles[i].thread & ~HQDB_QUEUE);

        if (!has_number(db, i, what))
            continue;
        least = number >= 0 && number < least ? number : least;
        most = number > most ? number : most;
    }
    if (most < 0)
        str_addf(sorts, "the database has no %s",
                 what == EXPECTED_RANKS     ? "ranks"
                 : what == EXPECTED_THREADS ? "threads"
                                            : "queues of devices");
    if (most > least)
        completion_add(c, arena_printf(c->arena, "%d-%d", least, most), "all of them");
    for (size_t i = 0; db && i < db->profile_count; i++) {
        const struct hqdb_profile *p = &db->profiles[i];

        if (has_number(db, i, what))
            completion_add(
                c, arena_printf(c->arena, "%d", what == EXPECTED_RANKS ? p->rank : (int)(p->thread & ~HQDB_QUEUE)),
                NULL);
    }
}

/* ---- all of it ---- */

/* "a number, a percentage": what cannot be listed. */
static void add_sort(const struct expected *e, struct str *kinds)
{
    str_addf(kinds, "%s%s", kinds->len ? ", " : "", expected_text(e));
    if (e->kind == EXPECTED_OPERATOR)
        str_add(kinds, " (+ - * / = != < <= > >= =~ !~)");
}

static void add_kind(struct completion *c, const struct expected *e, struct str *sorts)
{
    switch (e->kind) {
    case EXPECTED_KEYWORD:
    case EXPECTED_VIEW:
    case EXPECTED_CLAUSE: completion_add(c, e->text, item_help(c, e)); return;
    case EXPECTED_FUNCTION: add_functions(c); return;
    case EXPECTED_ATTRIBUTE: add_attributes(c); return;
    case EXPECTED_SETTING: add_settings(c); return;
    case EXPECTED_METRIC: add_metrics(c, false); return;
    case EXPECTED_TOTAL: add_metrics(c, true); return;
    case EXPECTED_PATTERN:
        add_scopes(c, e->names);
        if (e->names == NAMES_ANY && !c->quote && c->length && !strncmp(c->word, "phase", c->length))
            add_phases(c, true);
        return;
    case EXPECTED_VALUE: add_values(c, e->text); return;
    case EXPECTED_GROUP: add_groups(c, e->text != NULL); return;
    case EXPECTED_PHASE: add_phases(c, false); return;
    case EXPECTED_RANKS:
    case EXPECTED_THREADS:
    case EXPECTED_DEVICES: add_profiles(c, e->kind, sorts); return;
    case EXPECTED_FORMAT: add_formats(c); return;
    case EXPECTED_DATABASE: completion_databases(c); return;
    case EXPECTED_OUTPUT_FILE:
    case EXPECTED_SCRIPT_FILE: completion_files(c); return;
    case EXPECTED_COMMAND: completion_commands(c); return;
    case EXPECTED_SAVED_QUERY: hq_error_free(saved_each(add_saved, c)); return;
    case EXPECTED_HELP_WORD: help_each(add_help_word, c); return;
    case EXPECTED_END: return;
    case EXPECTED_MARK:
    case EXPECTED_REGEX:
    case EXPECTED_STRING:
    case EXPECTED_NUMBER:
    case EXPECTED_PERCENT:
    case EXPECTED_TIME:
    case EXPECTED_OPERATOR:
    case EXPECTED_NEW_NAME:
        if (!c->length)
            add_sort(e, sorts);
        return;
    }
}

/* Whether an expected item can be written in quotes. */
static bool is_name(const struct expected *e)
{
    switch (e->kind) {
    case EXPECTED_PATTERN:
    case EXPECTED_VALUE:
    case EXPECTED_GROUP:
    case EXPECTED_PHASE:
    case EXPECTED_DATABASE:
    case EXPECTED_OUTPUT_FILE:
    case EXPECTED_SCRIPT_FILE: return true;
    default: return false;
    }
}

/* Beside an attribute stands what it may be, and nothing that is measured. */
static bool has_value(const struct expected_set *set)
{
    for (size_t i = 0; i < set->len; i++)
        if (set->items[i].kind == EXPECTED_VALUE)
            return true;
    return false;
}

/* {{name}}: what -D has given a value. False if none is being typed. */
static bool add_parameters(struct completion *c)
{
    const char *open = NULL, *at = c->text;

    for (const char *p; (p = strstr(at, "{{")); at = p + 2)
        open = p;
    if (!open || strstr(open, "}}") || strchr(open, '\n'))
        return false;
    c->word = open;
    c->length = strlen(open);
    c->out->start = (size_t)(open - c->text);
    vec_foreach(p, &c->session->parameters)
        completion_add(c, arena_printf(c->arena, "{{%s}}", p->name), p->value);
    if (!c->out->len)
        c->out->sorts = "a parameter: {{NAME}} has the value of hq -D NAME=VALUE, {{NAME=VALUE}} a value of its own";
    return true;
}

static void add_expected(struct completion *c)
{
    struct expected_place place;
    AUTO_STR struct str sorts = {0};

    grammar_expected(c->text, strlen(c->text), &place);
    if (!place.quoted && add_parameters(c))
        return;
    bool value = has_value(&place.set);

    c->word = c->text + place.start;
    c->length = strlen(c->word);
    c->quote = place.quoted && place.start ? c->text[place.start - 1] : '\0';
    c->out->start = place.start;
    for (size_t i = 0; i < place.set.len; i++) {
        const struct expected *e = &place.set.items[i];

        if ((!c->quote || is_name(e)) && (!value || e->kind == EXPECTED_VALUE || e->kind == EXPECTED_REGEX))
            add_kind(c, e, &sorts);
    }
    /* A function goes on with its argument. */
    c->out->open |= c->out->len == 1 && c->out->data[0].text[strlen(c->out->data[0].text) - 1] == '(';
    if (sorts.len)
        c->out->sorts = arena_strdup(c->arena, sorts.s);
}

void complete(const struct session *s, const char *text, struct arena *arena, struct candidates *out)
{
    struct completion c = {.session = s, .arena = arena, .out = out, .text = text};

    if (!completion_shell(&c) && !completion_escapes(&c))
        add_expected(&c);
}
