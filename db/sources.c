/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/sources.h"

#include "common/file.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/parallel.h"
#include "common/process.h"
#include "common/str.h"
#include "format/measurement.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

static bool is_measurement(const char *name)
{
    size_t n = strlen(name), m = strlen(HQM_SUFFIX);

    return n > m && !strcmp(name + n - m, HQM_SUFFIX);
}

static struct hq_error *list_directory(const char *path, struct source_files *out)
{
    DIR *dir = opendir(path);
    struct hq_error *err = NULL;

    if (!dir)
        return hq_error_errno(HQ_DATA, "%s: could not list the measurements", path);
    for (const struct dirent *e; (e = file_dir_next(dir, path, &err));) {
        if (is_measurement(e->d_name))
            vec_push(out, file_join(path, e->d_name));
    }
    closedir(dir);
    return err;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct hq_error *find_one(const char *input, struct source_files *out)
{
    AUTO_FREE char *below = file_join(input, HQM_DIRECTORY);

    if (!file_is_absent(below))
        return list_directory(below, out);
    if (file_is_dir(input))
        return list_directory(input, out);
    if (file_is_absent(input))
        return hq_error_new(HQ_DATA, "%s: there is no such directory; `hq record -o %s -- COMMAND` makes one", input,
                            input);
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

bool sources_is_alive(long pid)
{
    AUTO_STR struct str text = {0};

    if (pid <= 0 || (kill((pid_t)pid, 0) && errno != EPERM))
        return false;
    const char *state = process_field((pid_t)pid, PROCESS_STATE, &text);

    return !state || *state != 'Z';
}

enum { MAPS_MAX = 64 << 20 };

bool sources_is_written(const char *path, const struct hqm_header *header)
{
    AUTO_FREE char *maps = xasprintf("/proc/%lu/maps", (unsigned long)header->pid);
    AUTO_STR struct str text = {0};
    struct stat namespace;

    if (!sources_is_alive((long)header->pid))
        return false;
    if (header->pid_namespace && !stat("/proc/self/ns/pid", &namespace) && header->pid_namespace != namespace.st_ino)
        return false;
    hq_error_free(file_read_regular(maps, &text, MAPS_MAX));
    return !text.len || strstr(str_cstr(&text), file_basename(path));
}

bool sources_is_here(const char *path)
{
    char host[256] = "";
    const char *name = file_basename(path);

    gethostname(host, sizeof host - 1);
    return *host && str_begins(name, host) && name[strlen(host)] == '-';
}

struct looking {
    const struct source_files *files;
    uint64_t *keys, *file_keys;
    atomic_bool running, perhaps, unfinished;
};

static uint64_t file_key(const char *path, const struct stat *st)
{
    uint64_t key = hash_combine(hash_str(file_basename(path)), (uint64_t)st->st_size);

    return hash_combine(key, (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec);
}

/* The last time of writing is noted in the file; a mapped file's own time may lag behind, or be set by a copy. */
static bool is_recent(const struct hqm_header *h)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return h->start_realtime_ns / 1000 + h->end_us + SOURCES_RECENT * 1000000ull > (uint64_t)now.tv_sec * 1000000u;
}

static void look_at(size_t i, unsigned worker, void *arg)
{
    struct looking *l = arg;
    const char *path = l->files->data[i];
    struct hqm_header h = {.major = 0};
    struct stat st = {.st_size = 0};
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    (void)worker;
    if (fd < 0)
        mem_end_if_refused();
    l->keys[i] = hash_str(file_basename(path));
    if (fd < 0 || fstat(fd, &st) || pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h)
        return;
    l->file_keys[i] = file_key(path, &st);
    if (h.state != HQM_ENDED && h.state != HQM_EXECED)
        l->unfinished = true;
    if (h.state == HQM_RUNNING && !sources_is_here(path))
        l->perhaps = l->perhaps || is_recent(&h);
    else if (h.state == HQM_RUNNING && sources_is_written(path, &h))
        l->running = true;
    /* The time of the last sign of life changes without any new data. */
    h.end_us = h.state == HQM_RUNNING ? 0 : h.end_us;
    l->keys[i] = hash_combine(hash_combine(l->keys[i], (uint64_t)st.st_size), hash_bytes(&h, sizeof h, 0));
}

static void look_outside(size_t i, unsigned worker, void *arg)
{
    struct looking *l = arg;
    struct stat st;

    (void)worker;
    if (!stat(l->files->data[i], &st))
        l->file_keys[i] = file_key(l->files->data[i], &st);
}

static uint64_t combine(const uint64_t *keys, size_t count)
{
    uint64_t key = hash_u64(count);

    for (size_t i = 0; i < count; i++)
        key = hash_combine(key, keys[i]);
    return key ? key : 1;
}

enum { FEW_FILES = 64 }; /* not worth starting threads for */

struct sources_state sources_look(const struct source_files *s)
{
    struct looking l = {.files = s};
    struct sources_state state = {.key = 0};

    l.keys = xcalloc(2 * s->len + 1, sizeof *l.keys);
    l.file_keys = l.keys + s->len;
    parallel_for(s->len, s->len < FEW_FILES ? 1 : 0, look_at, &l);
    state.key = combine(l.keys, s->len);
    state.files_key = l.unfinished ? 0 : combine(l.file_keys, s->len);
    state.running = l.running;
    state.perhaps = l.perhaps;
    free(l.keys);
    return state;
}

uint64_t sources_files_key(const struct source_files *s)
{
    struct looking l = {.files = s, .file_keys = xcalloc(s->len + 1, sizeof *l.file_keys)};
    uint64_t key;

    parallel_for(s->len, s->len < FEW_FILES ? 1 : 0, look_outside, &l);
    key = combine(l.file_keys, s->len);
    free(l.file_keys);
    return key;
}
