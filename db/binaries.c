/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/binaries.h"

#include "common/file.h"
#include "common/hash.h"
#include "common/map.h"
#include "common/mem.h"
#include "common/str.h"
#include "db/measurement.h"
#include "db/sources.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of a file's name that are kept: with the build-id and its temporary ending it must fit into 255. */
enum { NAME_MAX_KEPT = 160 };

char *binaries_place(const char *measurements, const char *build_id, const char *path)
{
    AUTO_FREE char *above = file_dirname(measurements);
    const char *name = file_basename(path);

    return *build_id ? xasprintf("%s/" BINARIES_DIRECTORY "/%s-%.*s", above, build_id, NAME_MAX_KEPT, name)
                     : xasprintf("%s/" BINARIES_DIRECTORY "/%016llx-%.*s", above, (unsigned long long)hash_str(path),
                                 NAME_MAX_KEPT, name);
}

static struct hq_error *copy(const char *from, const char *to, struct binaries_kept *kept)
{
    struct file_map map;
    struct file_writer writer;
    struct hq_error *error = file_map_open(from, &map);

    if (error) {
        hq_error_free(error);
        kept->unread++;
        return NULL;
    }
    error = file_writer_open(&writer, to);
    if (!error) {
        file_writer_write(&writer, map.data, map.size);
        error = file_writer_commit(&writer);
    }
    if (!error) {
        kept->files++;
        kept->bytes += map.size;
    }
    file_map_close(&map);
    return error;
}

static struct hq_error *keep(const char *measurements, const struct measurement *m, const struct hqm_module *module,
                             struct binaries_kept *kept)
{
    const char *path = measurement_module_path(m, module);
    AUTO_STR struct str build_id = {0};
    struct stat now, copied;

    if (path[0] != '/' || module->flags & (HQM_MODULE_KERNEL | HQM_MODULE_VDSO | HQM_MODULE_COLLECTOR))
        return NULL;
    measurement_build_id(module, &build_id);
    AUTO_FREE char *to = binaries_place(measurements, str_cstr(&build_id), path);

    if (stat(to, &copied) == 0) {
        kept->files++;
        kept->bytes += (uint64_t)copied.st_size;
        return NULL;
    }
    if (stat(path, &now) || !S_ISREG(now.st_mode)) {
        kept->unread++;
        return NULL;
    }
    if (module->file_size && module->file_size != (uint64_t)now.st_size) {
        kept->changed++;
        return NULL;
    }
    return copy(path, to, kept);
}

/* A module of many processes is looked at once. */
static struct hq_error *keep_of_file(const char *path, const char *measurements, struct map *seen,
                                     struct binaries_kept *kept)
{
    struct measurement m;
    struct hq_error *error = NULL;

    if (!measurement_has_begun(path))
        return NULL;
    HQ_TRY(measurement_open(path, &m));
    struct measured modules = measured_records(&m, HQM_MODULES, 0);

    for (const struct hqm_module *module; !error && (module = measured_next(&modules));) {
        uint64_t key = hash_bytes(module->build_id, sizeof module->build_id,
                                  hash_str(measurement_module_path(&m, module)));
        bool is_new;

        map_insert(seen, key, 1, &is_new);
        if (is_new)
            error = keep(measurements, &m, module, kept);
    }
    measurement_close(&m);
    return error;
}

struct hq_error *binaries_keep(const char *measurements, struct binaries_kept *kept)
{
    AUTO_FREE char *above = file_dirname(measurements), *directory = file_join(above, BINARIES_DIRECTORY);
    struct source_files files = {0};
    struct map seen = {0};
    struct hq_error *error = file_make_dirs(directory);

    *kept = (struct binaries_kept){0};
    if (!error)
        error = sources_find(&measurements, 1, &files);
    for (size_t i = 0; i < files.len && !error; i++)
        error = keep_of_file(files.data[i], measurements, &seen, kept);
    map_deinit(&seen);
    sources_deinit(&files);
    return error;
}

struct hq_error *binaries_discard(const char *measurements)
{
    AUTO_FREE char *above = file_dirname(measurements), *directory = file_join(above, BINARIES_DIRECTORY);
    struct hq_error *error = NULL;
    DIR *open = file_dir_open(directory, &error);

    for (const struct dirent *entry; open && !error && (entry = file_dir_next(open, directory, &error));) {
        AUTO_FREE char *path = file_join(directory, entry->d_name);
        size_t digits = strspn(entry->d_name, "0123456789abcdef");

        if (digits >= 8 && entry->d_name[digits] == '-')
            error = file_remove(path);
    }
    if (open)
        closedir(open);
    rmdir(directory);
    return error;
}
