/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The query engine: a parsed statement and an open database in, a table out.
 *
 * All that a session keeps between queries is in struct query_env: plain data, copied and inspected freely between
 * calls, never touched by another thread meanwhile, except for *interrupted. Errors of queries are HQ_USAGE and carry
 * place, line and caret; data that cannot be read is HQ_DATA. An interrupted query returns QUERY_INTERRUPTED.
 */
#ifndef HQ_QUERY_QUERY_H
#define HQ_QUERY_QUERY_H

#include "common/err.h"
#include "common/vec.h"
#include "db/db.h"
#include "query/grammar/ast.h"
#include "query/table.h"
#include <signal.h>

#define QUERY_INTERRUPTED 130

/* A derived metric: `let NAME = EXPR`. The text is parsed again for every query, so a let outlives its script. */
struct let {
    char *name, *text;
};

/* A row of the previous result: the contexts that it stands for, by id, and for a row that stands for a scope its
 * names. */
struct row_ref {
    uint64_t id;
    enum scope_kind kind;
    char *name, *module, *file; /* all but contexts: what `#n` finds again */
    uint32_t line;
    uint64_t *contexts; /* ids, if the row is of a calling context tree or a line */
    size_t context_count;
};

/* The settings of a session, by their number. Texts are owned. */
struct settings {
    struct setting_value of[SETTING_KINDS];
};

struct session_groups;
struct query_cache; /* trees that settings made, compiled patterns ... */

struct query_env {
    struct db *db; /* not owned */
    /* Opens what `compare with` names: an alias or a path. NULL: db_open of the path. Databases stay open with the
     * session. */
    struct hq_error *(*find_db)(void *arg, const char *name, struct db **out);
    void *find_db_arg;
    /* Returns the number of runs that a database is the sum of, for comparing means; NULL: one. Takes find_db_arg. */
    size_t (*runs_of)(void *arg, const struct db *db);
    struct settings settings;
    unsigned width, height; /* of the terminal, for pictures of traces; 0: not a terminal */
    bool judged;            /* the query that runs has an expectation */
    bool partial_told;      /* that many call paths have no outer end, and why */
    bool only_system;       /* of the samples those in I/O, the kernel, MPI and OpenMP (groups by runtime) */
    bool keep_all;          /* rows that where and matching leave out stay, as ROW_ANCESTOR */
    bool complete;          /* without `as`, do not fold small rows */
    VEC(struct let) lets;
    struct session_groups *groups;            /* private to group.h; NULL none */
    VEC(struct row_ref) last;                 /* rows of the previous result, by number - 1 */
    struct script *last_query;                /* the query itself: query_last */
    VEC(struct db *) opened;                  /* by compare with, when there is no find_db */
    const volatile sig_atomic_t *interrupted; /* not zero: stop soon; may be NULL */
    struct query_cache *cache;                /* private */
};

void query_env_init(struct query_env *env, struct db *db);
void query_env_deinit(struct query_env *env);
/* Another database: what is remembered of the last one goes. Lets and settings stay. */
void query_env_set_db(struct query_env *env, struct db *db);

/* The value of a setting: the number of its word (words.h), for a switch whether it is on; its text, or NULL. */
static inline unsigned query_setting(const struct query_env *env, enum setting setting)
{
    return env->settings.of[setting].word;
}
static inline const char *query_setting_text(const struct query_env *env, enum setting setting)
{
    return env->settings.of[setting].text;
}
/* Changes it, without a look at whether the value is right; the text is copied. */
void query_set(struct query_env *env, enum setting setting, const struct setting_value *value);
/* `set source path`: a directory that is not there is told, and with `set strict on` an error. */
struct hq_error *query_source_path(struct query_env *env, const struct setting_value *value);
void query_switch(struct query_env *env, enum setting setting, bool on);

/* The query that was answered last, for what refers to it; NULL none. Lives until the next one is answered. */
const struct query *query_last(const struct query_env *env);

/*
 * Runs a query, let, group, expect or set (with a setting); other statements are the prompt's
 * business. *out is the result, NULL for let, group and set; the caller destroys it. A failed expectation is no error:
 * see table->verdict.
 */
struct hq_error *query_run(struct query_env *env, const struct statement *st, struct table **out);
/* Like query_run, for a text of one statement. */
struct hq_error *query_ask(struct query_env *env, const char *text, struct table **out);

#endif
