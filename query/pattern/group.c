/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/pattern/group.h"
#include "common/file.h"
#include "common/suggest.h"
#include "db/facts.h"
#include "query/grammar/parse.h"
#include "query/grammar/words.h"
#include <stdio.h>
#include <string.h>

enum { FILE_MAX = 16 << 20, GROUPS_MAX = 10000, NESTING_MAX = 1000 };

enum origin { OF_STATEMENT, OF_FILE, OF_DATABASE };

/* A text that groups were defined in. */
struct definitions {
    struct script *script;
    enum origin origin;
};

struct session_groups {
    VEC(struct definitions) texts;
    VEC(struct group) of;
    size_t stored;      /* of these are the database's: the last ones */
    struct arena arena; /* origins */
};

static void free_groups(struct session_groups *g)
{
    if (!g)
        return;
    vec_foreach(d, &g->texts)
        script_destroy(d->script);
    vec_deinit(&g->texts);
    vec_deinit(&g->of);
    arena_deinit(&g->arena);
    free(g);
}

void groups_forget(struct query_env *env)
{
    free_groups(env->groups);
    env->groups = NULL;
}

struct group_list groups_defined(const struct query_env *env)
{
    return env->groups ? (struct group_list){env->groups->of.data, env->groups->of.len} : (struct group_list){0};
}

const struct group *group_find(struct group_list list, const char *name)
{
    for (size_t i = 0; i < list.len; i++)
        if (!strcmp(list.data[i].name, name))
            return &list.data[i];
    return NULL;
}

/* ---- groups that hold groups ---- */

static struct hq_error *no_such_group(struct group_list list, const struct group_part *part)
{
    AUTO_STR struct str text = {0};
    struct suggest near;

    suggest_init(&near, part->group, 3);
    for (size_t i = 0; i < list.len; i++)
        suggest_add(&near, list.data[i].name);
    suggest_text(&near, &text);
    return place_error(&part->place, NULL, "there is no group `%s`%s", part->group, str_cstr(&text));
}

struct walk {
    struct group_list list;
    uint8_t *state; /* [group] 1: on the way; 2: holds no cycle */
    unsigned depth;
};

/* Each is entered once. */
static struct hq_error *walk_group(struct walk *w, size_t at)
{
    const struct group *g = &w->list.data[at];

    w->state[at] = 1;
    for (size_t i = 0; i < g->part_count; i++) {
        const struct group_part *part = &g->parts[i];
        const struct group *held = part->kind == PART_GROUP ? group_find(w->list, part->group) : NULL;

        if (part->kind != PART_GROUP)
            continue;
        if (!held)
            return no_such_group(w->list, part);
        size_t next = (size_t)(held - w->list.data);

        if (w->state[next] == 1)
            return place_error(&part->place, NULL,
                               "`%s` holds itself by way of this: groups cannot go round in a circle", held->name);
        if (w->state[next])
            continue;
        if (++w->depth > NESTING_MAX)
            return place_error(&part->place, NULL, "groups hold each other more than %d deep", NESTING_MAX);
        HQ_TRY(walk_group(w, next));
        w->depth--;
    }
    w->state[at] = 2;
    return NULL;
}

static struct hq_error *check_all(const struct session_groups *g)
{
    AUTO_FREE uint8_t *state = xcalloc(g->of.len + 1, 1);
    struct walk w = {{g->of.data, g->of.len}, state, 0};

    for (size_t i = 0; i < g->of.len; i++)
        if (!state[i])
            HQ_TRY(walk_group(&w, i));
    return NULL;
}

/* ---- definitions ---- */

static struct hq_error *take_group(struct session_groups *g, const struct statement *st, const struct source *source,
                                   enum origin origin)
{
    const struct group *known = group_find((struct group_list){g->of.data, g->of.len}, st->group.name.text);

    if (known && origin == OF_DATABASE)
        return NULL;
    if (known)
        return place_error(&st->group.name.place, NULL, "the group `%s` is defined already, at %s", known->name,
                           known->origin);
    if (g->of.len >= GROUPS_MAX)
        return place_error(&st->place, NULL, "there are more than %d groups", GROUPS_MAX);
    g->stored += origin == OF_DATABASE;
    vec_push(&g->of,
             (struct group){.name = st->group.name.text,
                            .statement = origin == OF_STATEMENT ? source->text : NULL,
                            .origin = arena_printf(&g->arena, "%s:%u", file_basename(source->name), st->place.line),
                            .parts = st->group.parts.data,
                            .part_count = st->group.parts.len});
    return NULL;
}

static struct hq_error *parse_definitions(struct session_groups *g, const struct source *source, enum origin origin)
{
    struct script *script;
    struct hq_error *error = parse_script(source, NULL, &script);

    vec_push(&g->texts, (struct definitions){script, origin});
    for (size_t i = 0; !error && i < script->statements.len; i++) {
        const struct statement *st = &script->statements.data[i];

        error = st->kind == STATEMENT_GROUP
                    ? take_group(g, st, &script->source, origin)
                    : place_error(&st->place, NULL, "a file of groups holds `group NAME = ...` and nothing else");
    }
    return error;
}

/* Those of statements, and of the file too. */
static struct hq_error *take_again(struct session_groups *g, const struct session_groups *old, bool with_file)
{
    for (size_t i = 0; old && i < old->texts.len; i++) {
        enum origin origin = old->texts.data[i].origin;

        if (origin == OF_STATEMENT || (origin == OF_FILE && with_file))
            HQ_TRY(parse_definitions(g, &old->texts.data[i].script->source, origin));
    }
    return NULL;
}

/* `solver.xml:12: group solver = ...`; what is no definition is overlooked, it came with the database. */
static void take_fact(struct session_groups *g, const char *fact)
{
    const char *text = strstr(fact, ": group "), *colon = text;

    while (colon && colon > fact && colon[-1] != ':')
        colon--;
    if (!colon || colon == fact)
        return;
    AUTO_FREE char *file = xstrndup(fact, (size_t)(colon - 1 - fact));
    struct source source = {file, text + 2, strlen(text + 2), (uint32_t)strtoul(colon, NULL, 10)};

    hq_error_free(parse_definitions(g, &source, OF_DATABASE));
}

/* Groups of the structure files that the database was built with. What the session defines comes first. */
static void take_stored(struct session_groups *g, const struct db *db)
{
    for (size_t i = 0; db && i < db->info_count; i++)
        if (!strcmp(db_string(db, db->info[i].key), FACT_GROUP))
            take_fact(g, db_string(db, db->info[i].value));
}

/* Takes the place of what there was if it is right. */
static struct hq_error *replace(struct query_env *env, struct session_groups *g, struct hq_error *error)
{
    if (!error)
        error = check_all(g);
    if (error) {
        free_groups(g);
        return error;
    }
    free_groups(env->groups);
    env->groups = g;
    return NULL;
}

/* ---- one more ---- */

static bool brings_groups(const struct db *db)
{
    for (size_t i = 0; db && i < db->info_count; i++)
        if (!strcmp(db_string(db, db->info[i].key), FACT_GROUP))
            return true;
    return false;
}

/* Does nothing that is in force, or that was left out, depend on it? */
static bool is_new(const struct query_env *env, const char *name)
{
    const struct session_groups *g = env->groups;

    return g && !group_find(groups_defined(env), name) && (g->stored || !brings_groups(env->db));
}

/* The last one stands before those of the database. */
static void put_in_order(struct session_groups *g)
{
    size_t at = g->of.len - 1 - g->stored;
    struct group last = g->of.data[g->of.len - 1];

    memmove(&g->of.data[at + 1], &g->of.data[at], g->stored * sizeof last);
    g->of.data[at] = last;
}

/* Others cannot hold one that is new: it alone is looked at. */
static struct hq_error *check_last(const struct session_groups *g)
{
    AUTO_FREE uint8_t *state = xmalloc(g->of.len);
    struct walk w = {{g->of.data, g->of.len}, state, 0};

    memset(state, 2, g->of.len);
    return walk_group(&w, g->of.len - 1);
}

static struct hq_error *add(struct session_groups *g, const struct source *source)
{
    size_t before = g->of.len;
    struct hq_error *error = parse_definitions(g, source, OF_STATEMENT);

    if (!error)
        error = check_last(g);
    if (error) {
        g->of.len = before;
        script_destroy(vec_pop(&g->texts).script);
    } else {
        put_in_order(g);
    }
    return error;
}

struct hq_error *groups_add_statement(struct query_env *env, const struct statement *st)
{
    AUTO(arena_deinit) struct arena arena = {0};
    const char *text = print_statement(&arena, st);
    struct source source = {st->place.source->name, text, strlen(text), st->place.line};

    if (is_new(env, st->group.name.text))
        return add(env->groups, &source);

    struct session_groups *g = xcalloc(1, sizeof *g);
    struct hq_error *error = take_again(g, env->groups, true);

    if (!error)
        error = parse_definitions(g, &source, OF_STATEMENT);
    take_stored(g, env->db);
    return replace(env, g, error);
}

struct hq_error *groups_set(struct query_env *env, const struct setting_value *v)
{
    struct session_groups *g = xcalloc(1, sizeof *g);
    struct hq_error *error = NULL;

    if (v->text) {
        AUTO_FREE char *path = file_expand_home(v->text);
        AUTO_STR struct str text = {0};

        error = file_read(path, &text, FILE_MAX);
        if (!error) {
            struct source source = {.name = v->text, .text = str_cstr(&text), .length = text.len};

            error = parse_definitions(g, &source, OF_FILE);
        }
    }
    if (!error)
        error = take_again(g, env->groups, false);
    take_stored(g, env->db);
    return replace(env, g, error);
}

void groups_follow(struct query_env *env)
{
    /* Groups of the database that go round in a circle by way of the session's are left out. */
    for (int stored = 1; stored >= 0; stored--) {
        struct session_groups *g = xcalloc(1, sizeof *g);
        struct hq_error *error = take_again(g, env->groups, true);

        if (stored)
            take_stored(g, env->db);
        error = replace(env, g, error);
        if (!error)
            return;
        hq_error_free(error);
    }
}
