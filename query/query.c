/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/query.h"
#include "common/file.h"
#include "common/log.h"
#include "query/choose/derive.h"
#include "query/choose/metrics.h"
#include "query/driver.h"
#include "query/grammar/parse.h"
#include "query/grammar/words.h"
#include "query/pattern/group.h"
#include "query/pattern/pattern.h"
#include "query/shape/rows.h"
#include "query/views/views.h"
#include <strings.h>

void query_env_init(struct query_env *env, struct db *db)
{
    *env = (struct query_env){.db = db};
    for (int i = 0; i < SETTING_KINDS; i++)
        env->settings.of[i].word = setting_words[i].start;
    if (db)
        groups_follow(env);
}

void query_env_deinit(struct query_env *env)
{
    derive_forget(env);
    vec_foreach(l, &env->lets) {
        free(l->name);
        free(l->text);
    }
    vec_deinit(&env->lets);
    groups_forget(env);
    refs_forget(env);
    vec_foreach(db, &env->opened)
        db_close(*db);
    vec_deinit(&env->opened);
    script_destroy(env->last_query);
    for (int i = 0; i < SETTING_KINDS; i++)
        free((char *)env->settings.of[i].text);
    *env = (struct query_env){0};
}

void query_env_set_db(struct query_env *env, struct db *db)
{
    derive_forget(env);
    refs_forget(env);
    script_destroy(env->last_query);
    env->last_query = NULL;
    env->partial_told = false;
    env->db = db;
    groups_follow(env);
}

/* ---- let ---- */

/* Binds the expression once, so that a wrong one is told at its definition. */
static struct hq_error *check_let(struct query_env *env, const struct expr *e)
{
    AUTO(arena_deinit) struct arena arena = {0};
    struct selection selection;
    struct binding binding;
    struct program *p;
    struct hq_error *err = selection_make(env, NULL, &selection);

    binding_init(&binding, env, &selection, &arena);
    if (!err)
        err = bind_expr(&binding, e, false, &p);
    if (!err && p->is_text)
        err = place_error(&e->place, NULL, "a metric is a number, and this is a text");
    if (!err && binding.uses_attributes)
        err = place_error(&e->place, NULL, "a metric is computed from metrics, not from the attributes of a row");
    binding_deinit(&binding);
    selection_deinit(&selection);
    return err;
}

static struct hq_error *run_let(struct query_env *env, const struct statement *st)
{
    AUTO(arena_deinit) struct arena arena = {0};
    const char *name = st->let.name.text;

    if (metrics_taken(env->db, name))
        return place_error(&st->let.name.place, NULL, "`%s` is a metric of this database already", name);
    if (find_attribute(name) >= 0 || find_function(name) >= 0)
        return place_error(&st->let.name.place, NULL, "`%s` has a meaning of its own in expressions", name);
    vec_foreach(l, &env->lets)
        if (!strcasecmp(l->name, name))
            return place_error(&st->let.name.place, NULL, "`%s` is defined already", name);
    HQ_TRY(check_let(env, st->let.expr));
    vec_push(&env->lets, (struct let){xstrdup(name), xstrdup(print_statement(&arena, st))});
    return NULL;
}

/* ---- set ---- */

void query_set(struct query_env *env, enum setting setting, const struct setting_value *value)
{
    struct setting_value *v = &env->settings.of[setting];
    char *text = value->text ? xstrdup(value->text) : NULL;

    free((char *)v->text);
    *v = (struct setting_value){.word = value->word, .text = text, .ignore_case = value->ignore_case};
}

void query_switch(struct query_env *env, enum setting setting, bool on)
{
    query_set(env, setting, &(struct setting_value){.word = on});
}

#define no_directory "the source path names `%s`, which is no directory"

static struct hq_error *check_regex(const struct setting_value *v)
{
    struct pattern pattern = {.place = v->place, .kind = PATTERN_REGEX, .text = v->text, .ignore_case = v->ignore_case};
    struct regex *regex = NULL;

    HQ_TRY(regex_compile(&pattern, &regex));
    regex_destroy(regex);
    return NULL;
}

struct hq_error *query_source_path(struct query_env *env, const struct setting_value *v)
{
    for (const char *d = v->text, *end; d && *d; d = *end ? end + 1 : end) {
        AUTO_FREE char *directory = xstrndup(d, strcspn(d, ":"));
        AUTO_FREE char *path = file_expand_home(directory);

        end = d + strlen(directory);
        if (!*directory || file_is_dir(path))
            continue;
        if (query_setting(env, SETTING_STRICT))
            return v->place.line ? place_error(&v->place, NULL, no_directory, directory)
                                 : hq_error_new(HQ_USAGE, no_directory, directory);
        log_hint(no_directory, directory);
    }
    query_set(env, SETTING_SOURCE_PATH, v);
    return NULL;
}

static struct hq_error *run_set(struct query_env *env, const struct statement *st)
{
    const struct setting_value *v = &st->set.value;

    if (v->text && setting_words[st->set.setting].type == TAKES_REGEX)
        HQ_TRY(check_regex(v));
    if (st->set.setting == SETTING_GROUPS)
        HQ_TRY(groups_set(env, v));
    if (st->set.setting == SETTING_SOURCE_PATH)
        return query_source_path(env, v);
    query_set(env, st->set.setting, v);
    return NULL;
}

/* ---- expect on the previous result: its query once more, with the expectation ---- */

static struct hq_error *run_expect(struct query_env *env, const struct statement *st, struct table **out)
{
    const struct query *last = query_last(env);
    struct expectation x = st->expect;
    struct query q;

    if (!last)
        return place_error(&st->place, "write it behind a view: procedures expect EXPR",
                           "there is no result yet to expect something of");
    q = *last;
    q.expect.data = &x;
    q.expect.len = 1;
    q.given[CLAUSE_EXPECT] = st->place;
    return run_query(env, &q, out);
}

/* ---- explain of the comparison before ---- */

static bool names_other_side(const struct expr *e)
{
    switch (e->kind) {
    case EXPR_METRIC:
    case EXPR_TOTAL: return e->metric.side != SIDE_HERE;
    case EXPR_NEGATE:
    case EXPR_NOT:
    case EXPR_MATCH: return names_other_side(e->left);
    case EXPR_BINARY: return names_other_side(e->left) || names_other_side(e->right);
    case EXPR_CALL:
        for (size_t i = 0; i < e->args.len; i++)
            if (names_other_side(e->args.data[i]))
                return true;
        return false;
    default: return false;
    }
}

/* Takes the clauses that choose samples from the query before, if `explain 90% of delta` has none itself. */
static void take_comparison(struct query *q, const struct query *last)
{
    for (int i = 0; i < CLAUSE_KINDS; i++)
        if (clause_words[i].samples && q->given[i].line)
            return;
    for (int i = 0; i < CLAUSE_KINDS; i++)
        if (clause_words[i].samples)
            q->given[i] = last->given[i];
    q->samples = last->samples;
}

/* The query may now refer to parts of the last one. */
static void find_comparison(const struct query_env *env, struct query *q)
{
    const struct query *last = query_last(env);

    if (last && last->samples.compare && view_find(q->view.kind)->covers && names_other_side(q->view.expr))
        take_comparison(q, last);
}

/* A copy that owns all that it is made of: its text, parsed. */
static struct script *copy_of(const struct query *q)
{
    AUTO(arena_deinit) struct arena arena = {0};
    struct source source = {.name = "last query", .text = print_query(&arena, q)};
    struct script *copy = NULL;

    source.length = strlen(source.text);
    hq_error_free(parse_script(&source, NULL, &copy));
    return copy;
}

const struct query *query_last(const struct query_env *env)
{
    const struct script *last = env->last_query;

    return last && last->statements.len == 1 ? &last->statements.data[0].query : NULL;
}

static struct hq_error *run_view(struct query_env *env, const struct statement *st, struct table **out)
{
    struct query q = st->query;

    find_comparison(env, &q);
    HQ_TRY(run_query(env, &q, out));
    q.expect.len = 0;
    q.as = NULL;
    struct script *copy = copy_of(&q);

    script_destroy(env->last_query);
    env->last_query = copy;
    return NULL;
}

struct hq_error *query_run(struct query_env *env, const struct statement *st, struct table **out)
{
    *out = NULL;
    switch (st->kind) {
    case STATEMENT_QUERY: return run_view(env, st, out);
    case STATEMENT_EXPECT: return run_expect(env, st, out);
    case STATEMENT_LET: return run_let(env, st);
    case STATEMENT_GROUP: return groups_add_statement(env, st);
    case STATEMENT_SET: return run_set(env, st);
    default: return place_error(&st->place, NULL, "this is no query");
    }
}

struct hq_error *query_ask(struct query_env *env, const char *text, struct table **out)
{
    struct source source = {.name = "query", .text = text, .length = strlen(text)};
    struct script *script;
    struct hq_error *error = parse_script(&source, NULL, &script);

    *out = NULL;
    if (!error && script->statements.len == 1)
        error = query_run(env, &script->statements.data[0], out);
    script_destroy(script);
    return error;
}
