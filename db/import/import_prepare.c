/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking a file directly: what was imported is kept in the user's cache. */
#include "db/import/import.h"

#include "common/file.h"
#include "common/hash.h"
#include "common/kept.h"
#include "common/mem.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEASUREMENTS   "measurements"
/* Part of the names in the cache: changes whenever an importer reads a file in another way than before. */
#define IMPORT_VERSION 19

static bool has_magic(const char *path)
{
    char magic[sizeof HQDB_MAGIC - 1] = "";
    AUTO_FCLOSE FILE *f = fopen(path, "rb");

    return f && fread(magic, 1, sizeof magic, f) == sizeof magic && memcmp(magic, HQDB_MAGIC, sizeof magic) == 0;
}

static bool is_ours(const char *path)
{
    AUTO_FREE char *measurements = file_join(path, MEASUREMENTS);
    AUTO_FREE char *database = file_join(path, HQDB_FILE);

    return file_is_absent(path) || !file_is_absent(measurements) || !file_is_absent(database) ||
           (!file_is_dir(path) && has_magic(path));
}

/* Returns a hash that changes when the file does; for a directory, when one of the files does that an importer reads in
 * it. */
static uint64_t identity(const char *path)
{
    static const char *const parts[] = {"", "meta.db", "profile.db", "cct.db", "trace.db"};
    AUTO_FREE char *absolute = realpath(path, NULL);
    uint64_t h = hash_combine(IMPORT_VERSION, hash_str(absolute ? absolute : path));

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        AUTO_FREE char *part = *parts[i] ? file_join(path, parts[i]) : xstrdup(path);
        struct stat st;

        if (stat(part, &st))
            continue;
        struct file_stamp stamp = file_stamp_of(&st);

        h = hash_bytes(&stamp, sizeof stamp, h);
        /* Who sets the time back at which it was written cannot set this one, and to import it once more costs little.
         */
        h = hash_combine(h, (uint64_t)st.st_ctim.tv_sec);
        h = hash_combine(h, (uint64_t)st.st_ctim.tv_nsec);
    }
    return h ? h : 1;
}

static char *cached_path(uint64_t key)
{
    AUTO_FREE char *cache = file_cache_dir();
    AUTO_FREE char *name = xasprintf("import/%016llx.db", (unsigned long long)key);

    return cache ? file_join(cache, name) : NULL;
}

/* The cache's directory is made if need be. */
static bool can_keep(const char *cached)
{
    AUTO_FREE char *directory = cached ? file_dirname(cached) : NULL;
    struct hq_error *error = directory ? file_make_dirs(directory) : NULL;
    bool can = directory && !error && access(directory, W_OK) == 0;

    hq_error_free(error);
    return can;
}

/* Without a cache that can be written the database lives as long as it is open. */
static struct hq_error *open_unkept(const char *path, struct db **out)
{
    const char *tmp = getenv("TMPDIR");
    AUTO_FREE char *file = xasprintf("%s/hq-import-XXXXXX.db", tmp && *tmp ? tmp : "/tmp");
    int fd = mkstemps(file, 3);

    if (fd < 0)
        return hq_error_new(HQ_DATA,
                            "neither the cache directory nor %s can be written to import %s; use hq import %s -o DB",
                            file, path, path);
    close(fd);
    struct hq_error *error = import_files(&(struct import_file){.path = path}, 1, file);

    if (!error)
        error = db_open(file, out);
    unlink(file);
    return error;
}

struct hq_error *import_prepare(const char *path, const struct build_options *options, struct db **out)
{
    struct stat st;

    /* A pipe would be read once and never again, and opening it could wait for ever. */
    if (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return hq_error_new(HQ_DATA, "%s is neither a file nor a directory; hq import reads pipes", path);
    if (is_ours(path))
        return db_prepare(path, options, out);

    uint64_t key = identity(path);
    AUTO_FREE char *cached = cached_path(key);

    if (cached && file_exists(cached) && !(options && options->force)) {
        struct hq_error *error = db_open(cached, out);

        if (!error)
            kept_note_use(cached);
        if (!error)
            return NULL;
        hq_error_free(error);
    }
    if (!can_keep(cached))
        return open_unkept(path, out);
    HQ_TRY(import_files(&(struct import_file){.path = path}, 1, cached));

    struct hq_error *error = db_open(cached, out);
    AUTO_FREE char *cache = file_cache_dir();

    /* It is open: should it be too large to be kept it lives until then. */
    if (cache)
        kept_trim_all(cache);
    return error;
}
