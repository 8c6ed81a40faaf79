/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/sources.h"

#include "common/file.h"
#include "common/hash.h"
#include "common/mem.h"
#include "format/measurement.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

static bool is_measurement(const char *name)
{
    size_t n = strlen(name), m = strlen(HQM_SUFFIX);

    return n > m && !strcmp(name + n - m, HQM_SUFFIX);
}

static struct hq_error *list_directory(const char *path, struct source_files *out)
{
    DIR *dir = opendir(path);

    if (!dir)
        return hq_error_errno(HQ_DATA, "%s: could not list the measurements", path);
    for (const struct dirent *e; (e = readdir(dir));) {
        if (is_measurement(e->d_name))
            vec_push(out, file_join(path, e->d_name));
    }
    closedir(dir);
    return NULL;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct hq_error *find_one(const char *input, struct source_files *out)
{
    AUTO_FREE char *below = file_join(input, HQM_DIRECTORY);

    if (file_is_dir(below))
        return list_directory(below, out);
    if (file_is_dir(input))
        return list_directory(input, out);
    if (!file_exists(input))
        return hq_error_new(HQ_DATA, "%s: there is no such directory; `hq record -o %s -- COMMAND` makes one", input, input);
    vec_push(out, xstrdup(input));
    return NULL;
}

struct hq_error *sources_find(const char *const *inputs, size_t count, struct source_files *out)
{
    size_t n = 0;

    *out = (struct source_files){0};
    for (size_t i = 0; i < count; i++)
        HQ_TRY(find_one(inputs[i], out));
    vec_sort(out, compare_paths);
    for (size_t i = 0; i < out->len; i++) {
        if (n && !strcmp(out->data[n - 1], out->data[i]))
            free(out->data[i]);
        else
            out->data[n++] = out->data[i];
    }
    out->len = n;
    return NULL;
}

void sources_deinit(struct source_files *s)
{
    for (size_t i = 0; i < s->len; i++)
        free(s->data[i]);
    vec_deinit(s);
}

static bool on_this_machine(const char *path)
{
    char host[256] = "";
    const char *name = file_basename(path);

    gethostname(host, sizeof host - 1);
    return *host && !strncmp(name, host, strlen(host)) && name[strlen(host)] == '-';
}

uint64_t sources_key(const struct source_files *s, bool *running)
{
    uint64_t key = hash_u64(s->len);

    for (size_t i = 0; i < s->len; i++) {
        struct hqm_header h = {.major = 0};
        struct stat st = {.st_size = 0};
        AUTO_CLOSE int fd = open(s->data[i], O_RDONLY | O_CLOEXEC);

        key = hash_combine(key, hash_str(file_basename(s->data[i])));
        if (fd < 0 || fstat(fd, &st) || pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h)
            continue;
        key = hash_combine(key, (uint64_t)st.st_size);
        /* The time of the last sign of life changes without any new data. */
        h.end_us = h.state == HQM_RUNNING ? 0 : h.end_us;
        key = hash_combine(key, hash_bytes(&h, sizeof h, 0));
        if (running && h.state == HQM_RUNNING && on_this_machine(s->data[i]) && (!kill((pid_t)h.pid, 0) || errno == EPERM))
            *running = true;
    }
    return key ? key : 1;
}
