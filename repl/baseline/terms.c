/* SPDX-License-Identifier: BSD-3-Clause */
/* Under which terms a baseline was written: settings and names (baseline.h). */
#include "db/facts.h"
#include "common/str.h"
#include "query/grammar/parse.h"
#include "query/grammar/words.h"
#include "repl/baseline/baseline.h"
#include "structure/structure.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- settings ---- */

static bool has(const baseline_settings *settings, const char *text)
{
    vec_foreach(s, settings)
        if (!strcmp(*s, text))
            return true;
    return false;
}

void baseline_settings_now(const struct query_env *env, const struct baseline *head, struct arena *arena,
                           baseline_settings *out)
{
    for (int i = 0; i < SETTING_KINDS; i++) {
        AUTO_STR struct str text = {0};

        if (!setting_words[i].counts)
            continue;
        str_addf(&text, "set %s ", setting_words[i].name);
        print_setting(&text, i, &env->settings.of[i]);
        if (!head || !has(&head->settings, str_cstr(&text)))
            vec_push(out, arena_strdup(arena, str_cstr(&text)));
    }
}

struct hq_error *baseline_settings_apply(const char *const *settings, size_t n, struct query_env *env)
{
    struct hq_error *err = NULL;

    for (size_t i = 0; i < n && !err; i++) {
        struct source source = {.name = "baseline", .text = settings[i], .length = strlen(settings[i])};
        struct script *script;
        struct table *none = NULL;

        err = parse_script(&source, NULL, &script);
        if (!err && script->statements.len == 1 && script->statements.data[0].kind == STATEMENT_SET)
            err = query_run(env, &script->statements.data[0], &none);
        if (err) {
            hq_error_free(err);
            err = hq_error_new(HQ_USAGE,
                               "the baseline was written with `%s`, which this version of hq does not know; write it "
                               "again with hq check --update",
                               settings[i]);
        }
        script_destroy(script);
    }
    return err;
}

/* ---- the clock ---- */

/* Without what `info` says of it besides: "timers, which fire at the kernel's tick: ..." */
const char *baseline_clock(const struct db *db, struct arena *arena)
{
    const char *text = facts_text(db, "clock of CPUTIME");

    return text ? arena_strndup(arena, text, strcspn(text, ",;(:")) : NULL;
}

/* ---- the machine ---- */

const char *baseline_machine(const struct db *db, struct arena *arena)
{
    const char *text = facts_text(db, FACT_MACHINE);

    return text ? arena_strdup(arena, text) : NULL;
}

unsigned baseline_ranks(const struct db *db)
{
    AUTO(map_deinit) struct map ranks = {0};

    for (size_t i = 0; i < db->profile_count; i++)
        if (db->profiles[i].rank >= 0)
            map_put(&ranks, (uint64_t)db->profiles[i].rank, 1);
    return (unsigned)ranks.len;
}

/* "AMD EPYC 7763, 2 processors, Linux 6.1.0" without its last parts: of 1 with the count, of 2 without. */
static size_t without(const char *machine, int parts)
{
    size_t n = strlen(machine);

    while (parts-- > 0)
        while (n > 0 && !str_begins(machine + --n, ", "))
            ;
    return n;
}

enum baseline_elsewhere baseline_elsewhere(const char *here, const char *there)
{
    if (!here || !there)
        return here || there ? MACHINE_UNKNOWN : MACHINE_SAME;
    if (!strcmp(here, there))
        return MACHINE_SAME;
    size_t n = without(here, 1), m = without(there, 1), a = without(here, 2), b = without(there, 2);

    if (n == m && !strncmp(here, there, n))
        return MACHINE_KERNEL;
    return n - a == m - b && !strncmp(here + a, there + b, n - a) ? MACHINE_PROCESSOR : MACHINE_COUNT;
}

/* ---- names ---- */

/* The end of ` [LINKAGE]` at the end of a part of a path; NULL if there is none at s. */
static const char *linkage_end(const char *s)
{
    size_t n;

    if (!str_begins(s, " ["))
        return NULL;
    n = strcspn(s + 2, " []");
    if (!n || s[2 + n] != ']')
        return NULL;
    s += 3 + n;
    return !*s || str_begins(s, " > ") ? s : NULL;
}

const char *baseline_shorten(struct arena *arena, const char *key)
{
    const char *open = strrchr(key, '[');
    const char *end = open > key ? linkage_end(open - 1) : NULL;

    if (!end || *end)
        return key;
    AUTO_FREE char *symbol = xstrndup(open + 1, (size_t)(end - 1 - open - 1)), *name = structure_demangle(symbol);
    size_t length = (size_t)(open - 1 - key), n = name ? strlen(name) : 0;
    bool same = n && n < length && !memcmp(key + length - n, name, n) && key[length - n - 1] == ' ';

    return same ? arena_strndup(arena, key, length) : key;
}

const char *baseline_fold_path(struct arena *arena, const char *path)
{
    char *out = arena_strdup(arena, path), *to = out;

    while (*path) {
        const char *end = linkage_end(path);

        if (end)
            path = end;
        else
            *to++ = *path++;
    }
    *to = '\0';
    return out;
}

bool baseline_begins_scope(const char *s)
{
    for (enum scope_kind k = 0; k < SCOPE_KINDS; k++) {
        size_t n = strlen(scope_kind_name(k));

        if (!strncmp(s, scope_kind_name(k), n) && s[n] == ' ')
            return true;
    }
    return false;
}

size_t baseline_metric_length(const char *metric)
{
    size_t n = strlen(metric);

    return n > 2 && !strcmp(metric + n - 2, ".x") ? n - 2 : n;
}

const char *baseline_next_scope(const char *s)
{
    while ((s = strstr(s, " > "))) {
        s += 3;
        if (baseline_begins_scope(s))
            return s;
    }
    return NULL;
}

const char *baseline_own_scope(const char *path)
{
    for (const char *next; (next = baseline_next_scope(path));)
        path = next;
    return path;
}

static void add_up(struct baseline_value *into, const struct baseline_value *v)
{
    into->share += v->share;
    into->value += v->value;
    into->share_sd = hypot(into->share_sd, v->share_sd);
    into->value_sd = hypot(into->value_sd, v->value_sd);
    into->tolerance = fmax(into->tolerance, v->tolerance);
    into->outside = into->outside && v->outside;
}

/* Values whose rows now have one path become one; those without a path go. */
static void join_rows(struct baseline_query *q)
{
    struct baseline_query joined = {0};
    AUTO(row_names_deinit) struct row_names names = {0};

    vec_foreach(v, &q->values) {
        bool is_new = true;
        struct baseline_value *same = v->path ? baseline_value_add(&joined, &names, v, &is_new) : NULL;

        if (!is_new)
            add_up(same, v);
    }
    vec_deinit(&q->values);
    q->values = joined.values;
}

void baseline_fold(struct baseline *b)
{
    vec_foreach(q, &b->queries) {
        vec_foreach(v, &q->values)
            v->path = baseline_fold_path(&b->arena, v->path);
        join_rows(q);
    }
    b->by_source = true;
}

void baseline_match_loops(struct baseline_query *before, struct arena *before_arena, struct baseline_query *now,
                          struct arena *arena)
{
    struct loop_rows *l = &before->loops;

    vec_foreach(v, &before->values)
        loop_rows_note(l, 0, v->path);
    vec_foreach(v, &now->values)
        loop_rows_note(l, 1, v->path);
    loop_rows_cross(l);
    vec_foreach(v, &before->values)
        v->path = loop_rows_path(l, before_arena, v->metric, v->path);
    vec_foreach(v, &now->values)
        v->path = loop_rows_path(l, arena, v->metric, v->path);
    join_rows(before);
    join_rows(now);
}
