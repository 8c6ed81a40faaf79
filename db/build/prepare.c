/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the database is, whether it is up to date, and one build at a time. */
#include "db/build/builder.h"
#include "db/elsewhere.h"
#include "db/perf/convert.h"

#include "common/file.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/str.h"
#include "format/measurement.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOCK_SUFFIX ".lock"

/* The file to write for an input: DB/hq.db, or below the user's cache directory if DB is read-only. */
static char *place_for(const char *input)
{
    AUTO_FREE char *directory = file_is_dir(input) ? xstrdup(input) : file_dirname(input);
    AUTO_FREE char *whole = NULL;
    AUTO_FREE char *cache = NULL;

    if (!access(directory, W_OK))
        return file_join(directory, HQDB_FILE);
    cache = file_cache_dir();
    whole = realpath(directory, NULL);
    if (!cache || !whole)
        return file_join(directory, HQDB_FILE);
    return xasprintf("%s/databases/%016llx-%s", cache, (unsigned long long)hash_str(whole), HQDB_FILE);
}

/* A file of another version or a damaged one is as good as none: it is made anew. */
static struct db *open_current(const char *path, uint64_t key, uint64_t files_key)
{
    AUTO_ERROR struct hq_error *err = NULL;
    struct db *db;

    if (!file_exists(path))
        return NULL;
    err = db_open(path, &db);
    if (err)
        return NULL;
    if (!(key && db_sources_key(db) == key) && !(files_key && db_files_key(db) == files_key)) {
        db_close(db);
        return NULL;
    }
    return db;
}

/* Why there is a build though there is a database. */
static void tell_rebuild(const char *path, const char *place, bool running)
{
    struct db *db;
    AUTO_ERROR struct hq_error *err = db_open(place, &db);

    if (err)
        log_note("%s is damaged or was made by another version of hq; it is built again", place);
    else if (!running)
        log_note("%s: the measurements have changed since the database was built; it is built again", path);
    db_close(db);
}

/* Removes the temporary files of builds that were killed. Nobody else is writing while the lock is held. */
static void remove_leftovers(const char *path, const char *directory)
{
    AUTO_FREE char *prefix = xasprintf("%s" FILE_TEMPORARY, file_basename(path));
    DIR *dir = opendir(directory);

    if (!dir)
        return;
    for (const struct dirent *e; (e = readdir(dir));) {
        if (str_begins(e->d_name, prefix))
            unlinkat(dirfd(dir), e->d_name, 0);
    }
    closedir(dir);
}

/* ---- other ranks of the same build ---- */

struct team {
    struct ranks ranks;
    bool told;
}; /* told: the others know what there is to do */

/* Rank 0 tells the files to read; none: there is nothing to do. */
static void tell_files(struct team *team, const struct source_files *files)
{
    struct bytes bytes = {0};

    for (size_t i = 0; i < files->len; i++)
        vec_append(&bytes, (const uint8_t *)files->data[i], strlen(files->data[i]) + 1);
    ranks_broadcast(&team->ranks, &bytes);
    vec_deinit(&bytes);
    team->told = true;
}

static struct hq_error *help_build(const struct build_options *options, struct team *team)
{
    AUTO(sources_deinit) struct source_files files = {0};
    struct bytes bytes = {0};

    ranks_broadcast(&team->ranks, &bytes);
    team->told = true;
    for (size_t at = 0; at < bytes.len; at += strlen((char *)bytes.data + at) + 1)
        vec_push(&files, xstrdup((char *)bytes.data + at));
    vec_deinit(&bytes);
    return files.len ? build_database(&files, options, &team->ranks, NULL, NULL) : NULL;
}

/* The others must not wait for a rank that has given up. */
static void end_team(struct team *team, const struct hq_error *err)
{
    static const struct source_files none;

    if (err && team->told && team->ranks.size > 1) {
        log_warn("rank %d: %s", team->ranks.rank, err->message);
        ranks_abort(&team->ranks, err->status);
    }
    if (!team->told && !team->ranks.rank)
        tell_files(team, &none);
    ranks_end(&team->ranks);
}

/* `input` is what the user named if the place was chosen for them, else NULL. */
static struct hq_error *open_lock(const char *path, const char *lock_path, const char *input, struct file_lock *lock)
{
    AUTO_FREE char *directory = file_dirname(path);
    struct hq_error *err = file_make_dirs(directory);

    if (!err)
        err = file_lock_wait(lock_path, lock);
    if (!err || !input)
        return err;
    return hq_error_prefix(err,
                           "%s cannot be written and neither can the cache directory; use `hq build -o ELSEWHERE %s`, "
                           "or set XDG_CACHE_HOME",
                           input, input);
}

/*
 * Builds unless somebody else did so while we waited for the lock. The key is taken under the lock and before the
 * measurements are read: what comes in meanwhile changes it and leads to another build.
 */
static struct hq_error *build_locked(const struct source_files *files, const struct build_options *options,
                                     struct team *team, const char *path, const char *input, bool *running)
{
    AUTO_FREE char *directory = file_dirname(path), *lock_path = xasprintf("%s" LOCK_SUFFIX, path);
    AUTO(file_unlock) struct file_lock lock = {.fd = -1};
    struct sources_state state;
    struct db *done;
    bool was_there = !file_is_absent(directory);

    HQ_TRY(open_lock(path, lock_path, input, &lock));
    state = sources_look(files);
    *running = state.running;
    done = options->force ? NULL : open_current(path, state.key, 0);
    if (done) {
        db_close(done);
        return NULL;
    }
    remove_leftovers(path, directory);
    tell_files(team, files);
    struct hq_error *err = build_database(files, options, &team->ranks, path, &state);

    if (err && file_is_absent(path)) {
        file_lock_remove(&lock, lock_path);
        if (!was_there)
            rmdir(directory);
    }
    return err;
}

static char *place_of_output(const char *input, const struct build_options *options)
{
    if (!options->output)
        return place_for(input);
    size_t n = strlen(options->output);

    if (file_is_dir(options->output) || n < 4 || strcmp(options->output + n - 3, ".db"))
        return file_join(options->output, HQDB_FILE);
    return xstrdup(options->output);
}

static struct hq_error *lead_build(const char *const *inputs, size_t count, const struct build_options *options,
                                   struct team *team, char **written)
{
    AUTO(sources_deinit) struct source_files files = {0};
    AUTO_FREE char *path = place_of_output(inputs[0], options);
    bool running = false;

    for (size_t i = 0; i < count; i++) {
        elsewhere_fetch(inputs[i]);
        HQ_TRY(perf_convert(inputs[i]));
    }
    HQ_TRY(sources_find(inputs, count, &files));
    if (!files.len)
        return hq_error_new(HQ_DATA, "%s: there are no measurements in it; `hq record -o %s -- COMMAND` makes some",
                            inputs[0], inputs[0]);
    HQ_TRY(build_locked(&files, options, team, path, options->output ? NULL : inputs[0], &running));
    if (running)
        log_note("the program still runs; the database shows what it has done so far");
    if (written)
        *written = MEM_STEAL(path);
    return NULL;
}

struct hq_error *db_build(const char *const *inputs, size_t count, const struct build_options *options, char **written)
{
    struct team team = {.told = false};
    struct hq_error *err;

    if (written)
        *written = NULL;
    ranks_start(&team.ranks);
    err = team.ranks.rank ? help_build(options, &team) : lead_build(inputs, count, options, &team, written);
    end_team(&team, err);
    return err;
}

/* A directory without measurements is a database that was copied or imported. */
static bool has_measurements(const char *path)
{
    AUTO_FREE char *below = file_join(path, HQM_DIRECTORY);

    return !file_is_absent(below);
}

/* The database of these measurements if it is up to date, in one place or the other; else NULL. */
static struct db *find_current(const struct source_files *files, const char *present, const char *place, bool *running)
{
    uint64_t files_key = sources_files_key(files);
    struct db *db = open_current(present, 0, files_key);
    struct sources_state state;

    if (!db && strcmp(present, place))
        db = open_current(place, 0, files_key);
    if (db)
        return db;
    state = sources_look(files);
    *running = state.running;
    db = open_current(present, state.key, 0);
    return db || !strcmp(present, place) ? db : open_current(place, state.key, 0);
}

struct hq_error *db_prepare(const char *path, const struct build_options *options, struct db **out)
{
    static const struct build_options defaults;
    AUTO(sources_deinit) struct source_files files = {0};
    AUTO_FREE char *place = NULL;
    AUTO_FREE char *present = file_join(path, HQDB_FILE);
    bool running = false;

    *out = NULL;
    options = options ? options : &defaults;
    if (file_is_absent(path))
        return hq_error_new(HQ_DATA, "%s: there is no such directory; `hq record -o %s -- COMMAND` makes one", path,
                            path);
    if (!file_is_dir(path) || !has_measurements(path))
        return db_open(path, out);
    elsewhere_fetch(path);
    HQ_TRY(perf_convert(path));
    HQ_TRY(sources_find(&path, 1, &files));
    if (!files.len && file_exists(present))
        return db_open(present, out);
    if (!files.len)
        return hq_error_new(HQ_DATA,
                            "%s: there are no measurements in it; was the program a statically linked one, did it "
                            "end before the first sample, or was the disk full?",
                            path);
    place = place_for(path);
    *out = options->force ? NULL : find_current(&files, present, place, &running);
    if (running)
        log_note("the program still runs; the answers are about what it has done so far");
    if (*out)
        return NULL;
    if (file_exists(place))
        tell_rebuild(path, place, running);
    HQ_TRY(build_locked(&files, options, &(struct team){.ranks.size = 1}, place, path, &running));
    return db_open(place, out);
}
