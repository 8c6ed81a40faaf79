/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/pattern/waits.h"

#include "common/mem.h"
#include "common/names.h"
#include "common/str.h"
#include "db/folding.h"
#include "query/pattern/pattern.h"
#include "query/pattern/system.h"
#include <string.h>

const char *waiting_name(enum waiting waiting)
{
    static const char *const names[WAITINGS] = {
        [WAITS_NOT] = "",
        [WAITS_IN_MPI] = "MPI",
        [WAITS_FOR_BARRIER] = "barriers",
        [WAITS_FOR_LOCK] = "locks",
        [WAITS_FOR_POLL] = "polling",
        [WAITS_FOR_IO] = "input and output",
        [WAITS_FOR_OTHERS] = "waits for others",
        [WAITS_FOR_FUTEX] = "locks",
        [WAITS_AS_SET] = "what `set waits` names",
    };

    return names[waiting];
}

static enum waiting waiting_of_table(const char *name, struct standing standing)
{
    static const struct {
        const char *match;
        enum where where;
        enum waiting waiting;
    } rows[] = {
#define WAITS(match, where, for_) {match, where, WAITS_FOR_##for_},
#include "query/pattern/waits.def"
#undef WAITS
    };
    AUTO_FREE char *folded = name_folded(name);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (system_row(rows[i].match, rows[i].where, folded, standing))
            return rows[i].waiting;
    return WAITS_NOT;
}

/* In C whoever has it, as a library does that measures MPI; in Fortran's spellings only where MPI can be meant. */
static bool is_call_of_mpi(const char *name, bool own_code)
{
    if (own_code)
        return (str_begins(name, "MPI_") || str_begins(name, "PMPI_"));
    AUTO_FREE char *in_c = mpi_name_in_c(name);

    return in_c != NULL;
}

/* The owner of code: runtime NULL is the program, or not known (module HQDB_NONE). */
struct home {
    const struct runtime *runtime;
    bool known;
};

static struct home home_of(const struct tree *t, uint32_t scope)
{
    const char *module = tree_module_name(t, scope);

    return module ? (struct home){runtime_of_module(module), true} : (struct home){0};
}

static bool name_is_mpi(const char *name, struct home home)
{
    return (home.runtime && home.runtime->kind == RUNTIME_MPI) || is_call_of_mpi(name, home.known && !home.runtime);
}

bool scope_is_mpi(const struct tree *t, uint32_t scope)
{
    const struct hqdb_scope *s = tree_scope(t, scope);
    struct home home = home_of(t, scope);
    struct db_list aliases = tree_aliases(t, s);
    bool is_mpi = name_is_mpi(tree_text(t, s->name), home);

    for (size_t i = 0; i < aliases.len && !is_mpi; i++)
        is_mpi = name_is_mpi(db_string(t->db, aliases.data[i]), home);
    return is_mpi;
}

static enum waiting waiting_of_name(const char *name, struct home home)
{
    if (name_is_mpi(name, home))
        return WAITS_IN_MPI;
    return waiting_of_table(name, standing_of(home.runtime, home.known));
}

static enum waiting waiting_of_row(const char *name)
{
    if (!strcmp(name, "[barrier]"))
        return WAITS_FOR_BARRIER;
    return !strcmp(name, "[wait: critical]") || !strcmp(name, "[wait: lock]") ? WAITS_FOR_LOCK : WAITS_FOR_OTHERS;
}

static enum waiting waiting_of_scope(const struct tree *t, uint32_t scope)
{
    const struct hqdb_scope *s = tree_scope(t, scope);
    struct home home = home_of(t, scope);
    struct db_list aliases = tree_aliases(t, s);
    enum waiting waiting;

    if (s->kind == SCOPE_WAIT)
        return waiting_of_row(tree_text(t, s->name));
    if (s->kind != SCOPE_PROCEDURE && s->kind != SCOPE_INLINE)
        return WAITS_NOT;
    waiting = waiting_of_name(tree_text(t, s->name), home);
    for (size_t i = 0; i < aliases.len && waiting == WAITS_NOT; i++)
        waiting = waiting_of_name(db_string(t->db, aliases.data[i]), home);
    return waiting;
}

static bool matches_set(const struct tree *t, const struct hqdb_scope *s, struct regex *regex)
{
    struct db_list aliases = tree_aliases(t, s);
    bool found;

    if (!scope_is_called(s->kind) && s->kind != SCOPE_INLINE)
        return false;
    found = regex_matches(regex, tree_text(t, s->name));
    for (size_t i = 0; i < aliases.len && !found; i++)
        found = regex_matches(regex, db_string(t->db, aliases.data[i]));
    return found;
}

/* The expression of `set waits`, which was looked at when it was set; NULL: the table holds. */
static struct regex *regex_of_setting(const struct query_env *env)
{
    const struct setting_value *set = &env->settings.of[SETTING_WAITS];
    struct pattern p = {.kind = PATTERN_REGEX, .text = set->text, .ignore_case = set->ignore_case};
    struct regex *regex = NULL;

    if (set->text)
        hq_error_free(regex_compile(&p, &regex));
    return regex;
}

uint8_t *waits_of_scopes(const struct query_env *env, const struct tree *t)
{
    uint8_t *waits = xcalloc((size_t)t->scope_count + 1, 1);
    struct regex *regex = regex_of_setting(env);

    for (uint32_t i = 0; i < t->scope_count; i++) {
        const struct hqdb_scope *s = tree_scope(t, i);

        if (regex)
            waits[i] = matches_set(t, s, regex) ? WAITS_AS_SET : WAITS_NOT;
        else if (tree_instances(t, i).len)
            waits[i] = (uint8_t)waiting_of_scope(t, i);
    }
    regex_destroy(regex);
    return waits;
}

/* Is it work whoever called it: a procedure of no runtime, or what a runtime does for itself? */
static bool is_work(const struct tree *t, uint32_t scope)
{
    const struct hqdb_scope *s = tree_scope(t, scope);
    struct home home;

    if (s->kind != SCOPE_PROCEDURE)
        return s->kind == SCOPE_RUNTIME || s->kind == SCOPE_REGION;
    home = home_of(t, scope);
    return home.known && !home.runtime;
}

uint8_t *waits_of_contexts(const struct query_env *env, const struct tree *t)
{
    AUTO_FREE uint8_t *scopes = waits_of_scopes(env, t);
    AUTO_FREE uint8_t *work = xcalloc((size_t)t->scope_count + 1, 1);
    uint8_t *waits = xcalloc((size_t)t->context_count + 1, 1);
    bool set = env->settings.of[SETTING_WAITS].text != NULL;

    for (uint32_t i = 0; i < t->scope_count && !set; i++)
        work[i] = tree_instances(t, i).len && is_work(t, i);
    for (uint32_t c = 0; c < t->context_count; c++) {
        uint32_t scope = tree_scope_of(t, c), parent = tree_parent(t, c);

        waits[c] = scopes[scope];
        if (!waits[c] && !work[scope] && parent != HQDB_NONE)
            waits[c] = waits[parent];
        if (waits[c] == WAITS_FOR_FUTEX)
            waits[c] = parent != HQDB_NONE && waits[parent] ? waits[parent] : WAITS_FOR_LOCK;
    }
    return waits;
}
