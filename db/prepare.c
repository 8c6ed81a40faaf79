/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the database is, whether it is up to date, and one build at a time. */
#include "db/builder.h"

#include "common/file.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/mem.h"
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

/* What builds that were killed left behind. Under the lock nobody else is writing. */
static void remove_leftovers(const char *path, const char *directory)
{
    AUTO_FREE char *prefix = xasprintf("%s.tmp.", file_basename(path));
    DIR *dir = opendir(directory);

    if (!dir)
        return;
    for (const struct dirent *e; (e = readdir(dir));) {
        if (!strncmp(e->d_name, prefix, strlen(prefix)))
            unlinkat(dirfd(dir), e->d_name, 0);
    }
    closedir(dir);
}

/*
 * Builds unless somebody else did so while we waited for the lock. The key is taken under the lock and before the measurements
 * are read: what comes in meanwhile changes it and leads to another build.
 */
static struct hq_error *build_locked(const struct source_files *files, const struct build_options *options, const char *path, bool *running)
{
    AUTO_FREE char *lock_path = xasprintf("%s" LOCK_SUFFIX, path);
    AUTO_FREE char *directory = file_dirname(path);
    AUTO(file_unlock) struct file_lock lock = {.fd = -1};
    struct sources_state state;
    struct db *done;

    HQ_TRY(file_make_dirs(directory));
    HQ_TRY(file_lock_wait(lock_path, &lock));
    state = sources_look(files);
    *running = state.running;
    done = options->force ? NULL : open_current(path, state.key, 0);
    if (done) {
        db_close(done);
        return NULL;
    }
    remove_leftovers(path, directory);
    return build_database(files, options, path, &state);
}

struct hq_error *db_build(const char *const *inputs, size_t count, const struct build_options *options, char **written)
{
    AUTO(sources_deinit) struct source_files files = {0};
    AUTO_FREE char *path = NULL;
    bool running = false;

    HQ_TRY(sources_find(inputs, count, &files));
    if (!files.len)
        return hq_error_new(HQ_DATA, "%s: there are no measurements in it; `hq record -o %s -- COMMAND` makes some", inputs[0], inputs[0]);
    if (!options->output)
        path = place_for(inputs[0]);
    else if (file_is_dir(options->output) || !strstr(options->output, ".db"))
        path = file_join(options->output, HQDB_FILE);
    else
        path = xstrdup(options->output);
    HQ_TRY(build_locked(&files, options, path, &running));
    if (running)
        log_note("the program still runs; the database shows what it has done so far");
    if (written)
        *written = MEM_STEAL(path);
    return NULL;
}

/* A directory without measurements is a database that was copied or imported. */
static bool has_measurements(const char *path)
{
    AUTO_FREE char *below = file_join(path, HQM_DIRECTORY);

    return file_is_dir(below);
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
    AUTO(sources_deinit) struct source_files files = {0};
    AUTO_FREE char *place = NULL;
    AUTO_FREE char *present = file_join(path, HQDB_FILE);
    bool running = false;

    *out = NULL;
    if (!file_exists(path))
        return hq_error_new(HQ_DATA, "%s: there is no such directory; `hq record -o %s -- COMMAND` makes one", path, path);
    if (!file_is_dir(path) || !has_measurements(path))
        return db_open(path, out);
    HQ_TRY(sources_find(&path, 1, &files));
    if (!files.len && file_exists(present))
        return db_open(present, out);
    if (!files.len)
        return hq_error_new(HQ_DATA, "%s: there are no measurements in it; was the program a statically linked one, or did it end before the first sample?", path);
    place = place_for(path);
    *out = options->force ? NULL : find_current(&files, present, place, &running);
    if (running)
        log_note("the program still runs; the answers are about what it has done so far");
    if (*out)
        return NULL;
    if (file_exists(place) && !running)
        log_note("%s: the measurements have changed since the database was built; it is built again", path);
    HQ_TRY(build_locked(&files, options, place, &running));
    return db_open(place, out);
}
