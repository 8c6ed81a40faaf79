/* SPDX-License-Identifier: BSD-3-Clause */
/* The open databases of a session (session.h). */
#include "common/file.h"
#include "common/log.h"
#include "common/str.h"
#include "common/suggest.h"
#include "db/facts.h"
#include "db/import/import.h"
#include "format/database.h"
#include "format/measurement.h"
#include "repl/command.h"
#include "repl/gate/runs.h"
#include "repl/session.h"
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* runs/old.hq/ -> old */
static char *alias_of(const char *path)
{
    AUTO_FREE char *whole = xstrdup(path);

    for (size_t n = strlen(whole); n > 1 && whole[n - 1] == '/'; n--)
        whole[n - 1] = '\0';
    char *alias = xstrdup(file_basename(whole));
    char *dot = strrchr(alias, '.');

    if (dot && dot != alias)
        *dot = '\0';
    return alias;
}

static struct named_db *find(struct session *s, const char *name)
{
    vec_foreach(d, &s->databases)
        if (!strcmp(d->alias, name))
            return d;
    vec_foreach(d, &s->databases)
        if (!strcmp(d->path, name))
            return d;
    return NULL;
}

/* Answers look the same whether the data is whole or not: a sentence and the exit status tell. */
static void tell_damage(const struct db *db, const char *path)
{
    uint64_t files = facts_number(db, FACT_DAMAGED_FILES), samples = facts_number(db, FACT_SAMPLES), missing = 0;

    if (!files) {
        if (facts_damaged(db))
            log_warn("%s: %" PRIu64 " measurement file%s damaged and left out", path, facts_number(db, FACT_LEFT_OUT),
                     facts_number(db, FACT_LEFT_OUT) == 1 ? " is" : "s are");
        return;
    }
    for (size_t i = 0; i < db->loss_count; i++)
        if (!strcmp(db_string(db, db->losses[i].reason), FACT_LOST_TO_DAMAGE))
            missing = db->losses[i].count < samples ? db->losses[i].count : samples;
    log_warn("%s: %" PRIu64 " of %" PRIu64 " samples are there: %" PRIu64
             " measurement file%s damaged parts; `info` tells more",
             path, samples - missing, samples, files, files == 1 ? " has" : "s have");
}

bool looks_like_database(const char *directory)
{
    AUTO_FREE char *measurements = file_join(directory, HQM_DIRECTORY), *file = file_join(directory, HQDB_FILE);

    return file_is_dir(measurements) || file_exists(file) || run_set_is(directory);
}

/* Returns the error for a path that does not exist. It lists similar names beside it, or else the databases there. */
static struct hq_error *no_database(const struct session *s, const char *path)
{
    enum { LISTED = 6 };
    AUTO_FREE char *directory = file_dirname(path);
    AUTO(arena_deinit) struct arena arena = {0};
    AUTO_STR struct str near_text = {0}, list = {0};
    struct suggest near;
    struct dirent **entries;
    int n = scandir(directory, &entries, NULL, alphasort), listed = 0;

    suggest_init(&near, file_basename(path), 3);
    vec_foreach(d, &s->databases)
        suggest_add(&near, d->alias);
    for (int i = 0; i < n; i++) {
        AUTO_FREE char *entry = file_join(strchr(path, '/') ? directory : "", entries[i]->d_name);

        if (*entries[i]->d_name != '.') {
            suggest_add(&near, arena_strdup(&arena, entries[i]->d_name));
            if (looks_like_database(entry) && listed++ < LISTED)
                str_addf(&list, "%s%s", list.len ? ", " : "", entry);
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    suggest_text(&near, &near_text);
    if (near.count)
        str_clear(&list);
    return hq_error_new(HQ_DATA, "there is no %s%s%s%s%s", path, str_cstr(&near_text),
                        list.len     ? "; the databases here are "
                        : near.count ? ""
                                     : "; `hq record -o DB -- PROGRAM` makes a database",
                        str_cstr(&list), listed > LISTED && list.len ? ", ..." : "");
}

/* An hq that only records (make collector) leaves it to others to join the runs. */
static struct hq_error *join_runs(const char *directory)
{
    AUTO(run_set_deinit) struct run_set set = {0};

    HQ_TRY(run_set_read(directory, &set));
    return run_set_join(&set);
}

static struct hq_error *load(struct session *s, const char *path, struct db **out)
{
    if (file_is_absent(path))
        return no_database(s, path);
    /* A set of runs stands for all runs of the new program, joined. */
    AUTO_FREE char *joined = run_set_is(path) ? run_set_joined(path, RUN_NEW) : NULL;

    if (joined && file_is_absent(joined))
        HQ_TRY(join_runs(path));
    HQ_TRY(import_prepare(joined ? joined : path, &(struct build_options){0}, out));
    tell_damage(*out, path);
    if (facts_damaged(*out))
        s->status = exit_worse(s->status, HQ_DATA);
    return NULL;
}

static struct hq_error *add(struct session *s, const char *path, const char *alias, struct named_db **out)
{
    AUTO_FREE char *expanded = file_expand_home(path);
    AUTO_FREE char *name = alias ? xstrdup(alias) : alias_of(expanded);
    struct db *db;

    if (find(s, name)) {
        if (alias)
            return hq_error_new(HQ_USAGE, "there is a database `%s` already; choose another name", alias);
        free(name);
        name = xstrdup(expanded);
    }
    HQ_TRY(load(s, expanded, &db));
    vec_push(&s->databases, (struct named_db){.path = MEM_STEAL(expanded), .alias = MEM_STEAL(name), .db = db});
    *out = &vec_last(&s->databases);
    return NULL;
}

/* For comparing means over the runs of sets. */
static size_t runs_of(void *arg, const struct db *db)
{
    struct session *s = arg;

    vec_foreach(d, &s->databases)
        if (d->db == db)
            return run_set_joins(d->path);
    return 1;
}

/* For `compare with NAME`. */
static struct hq_error *find_db(void *arg, const char *name, struct db **out)
{
    struct named_db *d = find(arg, name);

    if (!d)
        HQ_TRY(add(arg, name, NULL, &d));
    *out = d->db;
    return NULL;
}

struct hq_error *session_unchanged(struct session *s)
{
    vec_foreach(d, &s->databases) {
        enum file_change change = db_change(d->db);
        bool own = str_begins(d->db->path, d->path); /* not in the cache of imports */

        if (change == FILE_WRITTEN)
            return hq_error_new(HQ_DATA,
                                "%s: somebody has written into it since it was opened; `open %s` opens it again",
                                d->db->path, d->path);
        if (change == FILE_AS_OPENED || !own || d->told)
            continue;
        d->told = true;
        if (change == FILE_GONE)
            log_warn("%s: has been removed since it was opened; what is answered is of the file before", d->db->path);
        else
            log_warn("%s: is another file now; what is answered is of the one before, and `open %s` opens the new one",
                     d->db->path, d->path);
    }
    return NULL;
}

/* Opens what stands there now. What has been asked of the file before still points into that. */
static struct hq_error *open_again(struct session *s, struct named_db *d)
{
    struct db *db;

    HQ_TRY(load(s, d->path, &db));
    vec_push(&s->replaced, d->db);
    d->db = db;
    d->told = false;
    return NULL;
}

struct hq_error *session_open(struct session *s, const char *path, const char *alias)
{
    struct named_db *d = find(s, path);

    if (d && db_change(d->db) != FILE_AS_OPENED)
        HQ_TRY(open_again(s, d));
    if (d && alias && strcmp(alias, d->alias)) {
        free(d->alias);
        d->alias = xstrdup(alias);
    }
    if (!d)
        HQ_TRY(add(s, path, alias, &d));
    s->env.find_db = find_db;
    s->env.find_db_arg = s;
    s->env.runs_of = runs_of;
    query_env_set_db(&s->env, d->db);
    return NULL;
}

const struct named_db *session_current(const struct session *s)
{
    vec_foreach(d, &s->databases)
        if (d->db == s->env.db)
            return d;
    return NULL;
}
