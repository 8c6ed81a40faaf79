/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/session.h"
#include "repl/limits.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/progress.h"
#include "query/grammar/words.h"
#include "query/output.h"
#include "repl/command.h"
#include "repl/help/help.h"
#include "repl/interrupt.h"
#include "repl/result.h"
#include "repl/saved.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { NESTING_MAX = 16, SCRIPT_MAX = 16 << 20 };

void session_init(struct session *s)
{
    *s = (struct session){.inconclusive = HQ_INCONCLUSIVE};
    query_env_init(&s->env, NULL);
}

void session_deinit(struct session *s)
{
    query_env_deinit(&s->env);
    vec_foreach(d, &s->databases) {
        db_close(d->db);
        free(d->path);
        free(d->alias);
    }
    vec_deinit(&s->databases);
    vec_foreach(d, &s->replaced)
        db_close(*d);
    vec_deinit(&s->replaced);
    vec_foreach(c, &s->changes)
        free(*c);
    vec_deinit(&s->changes);
    vec_deinit(&s->parameters);
    vec_deinit(&s->parameter_used);
}

struct hq_error *session_parameters(struct session *s, const struct opt_args *args, struct arena *arena)
{
    for (size_t i = 0; i < opt_count(args, "define"); i++) {
        const char *text = opt_value_at(args, "define", i), *equals = strchr(text, '=');

        if (!equals || equals == text)
            return hq_error_new(HQ_USAGE, "-D wants NAME=VALUE, not '%s'", text);
        vec_push(&s->parameters,
                 (struct parameter){.name = arena_strndup(arena, text, (size_t)(equals - text)), .value = equals + 1});
        vec_push(&s->parameter_used, false);
    }
    return NULL;
}

/* {{name}} or {{name=default}} in a text. */
static void note_parameters(struct session *s, const struct source *source)
{
    for (size_t i = 0; i < s->parameters.len; i++) {
        AUTO_FREE char *mention = xasprintf("{{%s", s->parameters.data[i].name);
        size_t n = strlen(mention);
        const char *end = source->text + source->length;

        for (const char *p = source->text; (p = memmem(p, (size_t)(end - p), mention, n)); p += n)
            s->parameter_used.data[i] |= p + n < end && strchr("}=", p[n]);
    }
}

void session_unused_parameters(const struct session *s)
{
    for (size_t i = 0; !s->quiet && i < s->parameters.len; i++)
        if (!s->parameter_used.data[i])
            log_hint("no query uses {{%s}}, which -D gives a value", s->parameters.data[i].name);
}

bool session_error(struct session *s, struct hq_error *error)
{
    if (!error)
        return true;
    int status = error->status;

    progress_hide();
    fflush(stdout);
    if (status == QUERY_INTERRUPTED) {
        fputs("cancelled\n", stderr);
        hq_error_free(error);
        return s->prompt;
    }
    /* An error with a place has its own lines and needs no name of a program before it. */
    if (s->on_error)
        s->on_error(s->on_arg, error);
    else {
        AUTO_FREE char *line = xasprintf("%s%s", strchr(error->message, '\n') ? "" : "hq: ", error->message);

        utf8_put_line(line, stderr);
    }
    hq_error_free(error);
    s->status = exit_worse(s->status, status);
    return s->prompt || s->keep_going;
}

static void note_change(struct session *s, const struct statement *st)
{
    struct arena arena = {0};

    vec_push(&s->changes, xstrdup(print_statement(&arena, st)));
    arena_deinit(&arena);
}

static struct hq_error *need_db(const struct session *s)
{
    return s->env.db ? NULL : hq_error_new(HQ_USAGE, "no database is open; `open DB` opens one");
}

/* Tells the verdict of an expectation, and counts its exit status. */
static void tell_verdict(struct session *s, const struct table *t, bool shown)
{
    static const int status[] = {
        [VERDICT_PASS] = HQ_OK, [VERDICT_FAIL] = HQ_FAILED, [VERDICT_INCONCLUSIVE] = HQ_INCONCLUSIVE};
    enum verdict_kind kind = t->verdict.kind;

    if (kind == VERDICT_NONE)
        return;
    s->status = exit_worse(s->status, kind == VERDICT_INCONCLUSIVE ? s->inconclusive : status[kind]);
    /* It is among the notes of a result that was shown, unless there are to be none. */
    if (s->quiet ? kind != VERDICT_PASS : !shown)
        utf8_put_line(t->verdict.text, stderr);
}

/* Pictures of traces fit the window that they are shown in. */
static void note_window(struct session *s, const struct statement *st)
{
    bool elsewhere = st->pipe.text || st->redirect.text ||
                     (st->kind == STATEMENT_QUERY && st->query.as && st->query.as->file);
    struct output_options o = {0};

    if (!elsewhere)
        output_detect(&o, stdout);
    s->env.width = o.width;
    s->env.height = o.height;
}

static struct hq_error *evaluate(struct session *s, const struct statement *st, struct table **out)
{
    struct progress progress;

    HQ_TRY(session_unchanged(s));
    progress_start(&progress, s->prompt ? "working (Ctrl-C cancels)" : "working", 0, false);
    struct hq_error *error = limits_query(&s->env, st, out);

    progress_finish(&progress);
    if (!error && (error = session_unchanged(s))) {
        table_destroy(*out);
        *out = NULL;
    }
    return error;
}

static struct hq_error *run_query(struct session *s, const struct statement *st)
{
    struct table *table = NULL;

    HQ_TRY(need_db(s));
    HQ_TRY(result_check(st));
    if (s->on_query)
        return s->on_query(s->on_arg, st);
    note_window(s, st);
    struct hq_error *error = evaluate(s, st, &table);

    if (!error && st->kind == STATEMENT_QUERY)
        error = result_show(s, st, table);
    if (!error && table)
        tell_verdict(s, table, st->kind == STATEMENT_QUERY);
    table_destroy(table);
    return error;
}

/* `last`: the query again without a limit, and without anything folded away. */
static struct hq_error *run_last(struct session *s, const struct statement *st)
{
    const struct query *last = query_last(&s->env);
    struct table *table = NULL;

    if (!last)
        return hq_error_new(HQ_USAGE, "there is no result yet");
    HQ_TRY(need_db(s));
    struct statement whole = {.kind = STATEMENT_QUERY,
                              .place = st->place,
                              .query = *last,
                              .pipe = st->pipe,
                              .redirect = st->redirect,
                              .append = st->append};
    struct script *kept = MEM_STEAL(s->env.last_query); /* whole is made of it */

    whole.query.limit = whole.query.depth = 0;
    whole.query.all = true;
    whole.query.expect.len = 0;
    whole.query.as = st->last;
    struct hq_error *error = result_check(&whole);

    note_window(s, &whole);
    if (!error)
        error = evaluate(s, &whole, &table);
    if (!error)
        error = result_show(s, &whole, table);
    table_destroy(table);
    if (!s->env.last_query)
        s->env.last_query = MEM_STEAL(kept);
    script_destroy(kept);
    return error;
}

static struct hq_error *run_change(struct session *s, const struct statement *st)
{
    struct table *none = NULL;

    if (st->kind == STATEMENT_OPEN)
        HQ_TRY(session_open(s, st->open.db.text, st->open.alias.text));
    else
        HQ_TRY(query_run(&s->env, st, &none));
    note_change(s, st);
    return NULL;
}

/* Takes back the last let, group, set or open by going again through those before it. */
static struct hq_error *run_undo(struct session *s)
{
    if (!s->changes.len)
        return hq_error_new(HQ_USAGE, "there is nothing to undo: no let, group, set or open so far");
    AUTO_FREE char *undone = vec_pop(&s->changes);
    __typeof__(s->changes) again = s->changes;
    struct query_env fresh;

    query_env_init(&fresh, NULL);
    struct script *last_query = MEM_STEAL(s->env.last_query);
    const struct db *asked = s->env.db;

    query_env_deinit(&s->env);
    s->env = fresh;
    s->env.interrupted = s->prompt ? &interrupt_flag : NULL;
    s->changes = (__typeof__(s->changes)){0};
    struct hq_error *error = session_options(s);

    if (!error && s->databases.len)
        error = session_open(s, s->databases.data[0].path, NULL);
    vec_foreach(text, &again) {
        struct source source = {.name = "undo", .text = *text, .length = strlen(*text)};

        if (!error)
            session_text(s, &source);
        free(*text);
    }
    vec_deinit(&again);
    if (s->env.db == asked && !s->env.last_query)
        s->env.last_query = MEM_STEAL(last_query);
    script_destroy(last_query);
    if (!error && !s->quiet)
        fprintf(stderr, "taken back: %s\n", undone);
    return error;
}

static struct hq_error *run_listing(const struct session *s, const struct statement *st)
{
    AUTO_STR struct str text = {0};
    struct hq_error *error = NULL;

    if (st->kind == STATEMENT_HELP) {
        error = help_word(st->help.text, &text);
    } else if (st->kind == STATEMENT_SET) {
        session_settings(s, &text);
    } else {
        session_state(s, &text);
        if (!text.len)
            str_add(&text, "-- nothing was asked or changed yet");
        str_addc(&text, '\n');
    }
    return error ? error : result_text(s, st, str_cstr(&text));
}

/* The file that `include` names: relative to the file it stands in. */
static char *included_path(const struct statement *st)
{
    const struct place *p = &st->include.place;
    AUTO_FREE char *expanded = file_expand_home(st->include.text);

    if (!p->source || !strchr(p->source->name, '/'))
        return MEM_STEAL(expanded);
    AUTO_FREE char *dir = file_dirname(p->source->name);

    return file_join(dir, expanded);
}

static struct hq_error *run_statement(struct session *s, const struct statement *st)
{
    switch (st->kind) {
    case STATEMENT_QUERY:
    case STATEMENT_EXPECT: return run_query(s, st);
    case STATEMENT_LET:
    case STATEMENT_GROUP:
    case STATEMENT_OPEN: return run_change(s, st);
    case STATEMENT_SET: return st->set.setting != SETTING_NONE ? run_change(s, st) : run_listing(s, st);
    case STATEMENT_STATE:
    case STATEMENT_HELP: return run_listing(s, st);
    case STATEMENT_UNDO: return run_undo(s);
    case STATEMENT_LAST: return run_last(s, st);
    case STATEMENT_QUIT: s->quit = true; return NULL;
    case STATEMENT_WRONG: return hq_error_new(HQ_USAGE, "%s", st->wrong.text);
    case STATEMENT_RUN:
    case STATEMENT_INCLUDE:
    case STATEMENT_KINDS: break;
    }
    return NULL;
}

/* In a file an error without a place gets that of its statement. */
static struct hq_error *placed(const struct session *s, const struct statement *st, struct hq_error *error)
{
    if (!error || !s->in_file || error->status == QUERY_INTERRUPTED || strchr(error->message, '\n'))
        return error;
    struct hq_error *with_place = place_error(&st->place, NULL, "%s", error->message);

    with_place->status = error->status;
    hq_error_free(error);
    return with_place;
}

static bool run_file_text(struct session *s, const char *name, const struct str *text)
{
    struct source source = {.name = name, .text = str_cstr(text), .length = text->len};
    bool before = s->in_file;

    s->in_file = true;
    bool go_on = session_text(s, &source);

    s->in_file = before;
    return go_on;
}

/* Nested texts print their own errors; false is passed on. */
static bool run_nested(struct session *s, const struct statement *st)
{
    AUTO_FREE char *path = st->kind == STATEMENT_INCLUDE ? included_path(st) : NULL;
    AUTO_STR struct str text = {0};
    struct hq_error *error = NULL;

    if (s->nesting >= NESTING_MAX)
        return session_error(s, place_error(&st->place, "does a file include itself?",
                                            "files are included more than %d deep", NESTING_MAX));
    if (!path)
        error = saved_find(st->run.text, &path);
    if (!error)
        error = file_read(path, &text, SCRIPT_MAX);
    if (error)
        return session_error(s, placed(s, st, error));
    s->nesting++;
    bool go_on = run_file_text(s, path, &text);

    s->nesting--;
    return go_on;
}

static bool run_timed(struct session *s, const struct statement *st)
{
    char text[UNITS_TEXT];
    double start = clock_seconds();
    bool nested = st->kind == STATEMENT_RUN || st->kind == STATEMENT_INCLUDE,
         asks = st->kind == STATEMENT_QUERY || st->kind == STATEMENT_LAST;
    bool go_on = nested ? run_nested(s, st) : session_error(s, placed(s, st, run_statement(s, st)));

    if (query_setting(&s->env, SETTING_TIMING) && asks)
        fprintf(stderr, "time: %s\n", units_format(text, clock_seconds() - start, DIM_SECONDS));
    return go_on;
}

/* A text that is the name of a saved query is not run, since a later view may take the name; but it is said how. */
static struct hq_error *name_saved(const struct source *source, struct hq_error *error)
{
    size_t start = strspn(source->text, " \t"), n = strcspn(source->text + start, " \t\n;");
    AUTO_FREE char *word = xstrndup(source->text + start, n);

    for (int i = 0; i < VIEW_KINDS; i++)
        if (!strcmp(word, view_words[i].name))
            return error;
    if (!error || start + n + strspn(source->text + start + n, " \t\n;") < source->length || !saved_exists(word))
        return error;
    struct hq_error *more = hq_error_new(error->status, "%s\n`run %s` runs the saved query of this name",
                                         error->message, word);

    hq_error_free(error);
    return more;
}

bool session_parses(const char *text)
{
    struct source source = {.name = "query", .text = text, .length = strlen(text)};
    struct script *script;
    AUTO_ERROR struct hq_error *error = parse_script(&source, NULL, &script);

    script_destroy(script);
    return !error;
}

bool session_text(struct session *s, const struct source *source)
{
    struct parse_options options = {
        .parameters = s->parameters.data,
        .parameter_count = s->parameters.len,
        .recover = s->keep_going,
        .prompt = s->prompt,
    };
    struct script *script;
    struct hq_error *error = parse_script(source, &options, &script);
    bool go_on = true;

    note_parameters(s, source);
    for (size_t i = 0; !s->quiet && i < script->hints.len; i++)
        log_hint("%s", script->hints.data[i].text);
    for (size_t i = 0; go_on && !s->quit && i < script->statements.len; i++)
        go_on = run_timed(s, &script->statements.data[i]);
    if (go_on && !s->quit)
        go_on = session_error(s, name_saved(source, error));
    else
        hq_error_free(error);
    script_destroy(script);
    return go_on;
}

struct kept_text {
    char *path;
    struct str text;
};
/* The texts of pipes, which can be read once. They live as long as the process: who asks last nobody knows. */
static VEC(struct kept_text) kept;

static struct hq_error *read_once(const char *path, struct str *out)
{
    struct kept_text one = {0};
    struct stat st;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        return file_read(path, out, SCRIPT_MAX);
    vec_foreach(k, &kept)
        if (!strcmp(k->path, path)) {
            str_addn(out, str_cstr(&k->text), k->text.len);
            return NULL;
        }
    HQ_TRY(file_read(path, out, SCRIPT_MAX));
    one.path = xstrdup(path);
    str_addn(&one.text, str_cstr(out), out->len);
    vec_push(&kept, one);
    return NULL;
}

bool session_file(struct session *s, const char *path)
{
    bool standard_input = !strcmp(path, "-");
    const char *file = standard_input ? "/dev/stdin" : path;
    AUTO_STR struct str text = {0};
    struct hq_error *error = s->keeps_files ? read_once(file, &text) : file_read(file, &text, SCRIPT_MAX);

    if (error)
        return session_error(s, error);
    return run_file_text(s, standard_input ? "standard input" : path, &text);
}

bool session_saved(struct session *s, const char *name)
{
    AUTO_FREE char *path = NULL;
    struct hq_error *error = saved_find(name, &path);

    return error ? session_error(s, error) : session_file(s, path);
}
