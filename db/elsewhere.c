/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/elsewhere.h"
#include "db/sources.h"

#include "common/file.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/str.h"
#include "common/vec.h"
#include "format/measurement.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One mark; its file holds the two texts, a line each. */
struct mark {
    char *path, *host, *directory;
};
struct marks {
    struct mark *data;
    size_t len, cap;
};

static bool has_ending(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);

    return n > m && !strcmp(name + n - m, ending);
}

/* ---- marks ---- */

static char *own_host(void)
{
    char name[256] = "";

    gethostname(name, sizeof name - 1);
    for (char *c = name; (c = strchr(c, '/'));)
        *c = '_';
    return xstrdup(*name ? name : "localhost");
}

static char *mark_path(const char *measurements, const char *directory)
{
    AUTO_FREE char *host = own_host();
    AUTO_FREE char *name = xasprintf(ELSEWHERE_PREFIX "%s-%s", host, file_basename(directory));

    return file_join(measurements, name);
}

struct hq_error *elsewhere_mark(const char *measurements, const char *directory)
{
    AUTO_FREE char *path = mark_path(measurements, directory);
    AUTO_FREE char *host = own_host();
    AUTO_FREE char *text = xasprintf("%s\n%s\n", host, directory);
    struct file_writer writer;

    HQ_TRY(file_writer_open(&writer, path));
    file_writer_write(&writer, text, strlen(text));
    return file_writer_commit(&writer);
}

void elsewhere_unmark(const char *measurements, const char *directory)
{
    AUTO_FREE char *path = mark_path(measurements, directory);

    unlink(path);
}

static void marks_deinit(struct marks *marks)
{
    vec_foreach(m, marks) {
        free(m->path);
        free(m->host);
        free(m->directory);
    }
    vec_deinit(marks);
}

static struct hq_error *read_mark(const char *measurements, const char *name, struct marks *marks)
{
    AUTO_STR struct str text = {0};
    AUTO_FREE char *path = file_join(measurements, name);
    AUTO_ERROR struct hq_error *err = file_read_regular(path, &text, 8192);

    if (err) /* somebody else has fetched what it names */
        return file_is_absent(path) ? NULL : MEM_STEAL(err);
    char *end = strchr(str_cstr(&text), '\n');
    size_t host = end ? (size_t)(end - text.s) : 0, length = end ? strcspn(end + 1, "\n") : 0;

    if (length && end[1] == '/')
        vec_push(marks, (struct mark){xstrdup(path), xstrndup(text.s, host), xstrndup(end + 1, length)});
    return NULL;
}

static struct hq_error *find_marks(const char *measurements, struct marks *marks)
{
    struct hq_error *err = NULL;
    DIR *dir = file_dir_open(measurements, &err);

    for (const struct dirent *e; dir && !err && (e = file_dir_next(dir, measurements, &err));) {
        if (str_begins(e->d_name, ELSEWHERE_PREFIX))
            err = read_mark(measurements, e->d_name, marks);
    }
    if (dir)
        closedir(dir);
    return err;
}

static bool is_here(const struct mark *mark)
{
    AUTO_FREE char *host = own_host();

    return !strcmp(host, mark->host);
}

/* Is it a directory that `hq record` of this user may have made? */
static bool is_trusted(const char *directory)
{
    struct stat st;

    return str_begins(file_basename(directory), ELSEWHERE_DIRECTORY) && !lstat(directory, &st) && S_ISDIR(st.st_mode) &&
           st.st_uid == geteuid();
}

/* ---- files ---- */

/* HOST-PID-SERIAL.hqm: a process that is just making its file has not written its header yet. */
static long pid_of_name(const char *path)
{
    const char *at = strrchr(file_basename(path), '-');

    while (at && at > path && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return at ? strtol(at, NULL, 10) : 0;
}

/* Does the process that writes the file still run? */
static bool in_use(const char *path)
{
    struct hqm_header header = {.major = 0};
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0 || !has_ending(path, HQM_SUFFIX))
        return false;
    if (read(fd, &header, sizeof header) != (ssize_t)sizeof header ||
        memcmp(header.magic, HQM_MAGIC, sizeof header.magic))
        return sources_is_alive(pid_of_name(path));
    return header.state == HQM_RUNNING && sources_is_written(path, &header);
}

static struct hq_error *move(const char *from, const char *to)
{
    struct file_map map = {.data = NULL};
    struct file_writer writer = {.file = NULL};

    if (file_exists(to))
        return !unlink(from) || errno == ENOENT ? NULL : hq_error_errno(HQ_DATA, "%s", from);
    HQ_TRY(file_map_open(from, &map));
    struct hq_error *err = file_writer_open(&writer, to);
    if (!err) {
        file_writer_write(&writer, map.data, map.size);
        err = file_writer_commit(&writer);
    }
    file_map_close(&map);
    if (!err)
        unlink(from);
    return err;
}

/* Whether a file is one that the collector writes: a measurement or the image of the vDSO. */
static bool is_data(const char *name)
{
    return name[0] != '.' && (has_ending(name, HQM_SUFFIX) || (str_begins(name, "vdso-") && has_ending(name, ".so")));
}

struct hq_error *elsewhere_move(const char *directory, const char *measurements, unsigned *left)
{
    DIR *dir = opendir(directory);
    struct hq_error *err = NULL;

    *left = 0;
    if (!dir)
        return errno == ENOENT ? NULL : hq_error_errno(HQ_DATA, "%s", directory);
    for (const struct dirent *e; !err && (e = file_dir_next(dir, directory, &err));) {
        AUTO_FREE char *from = file_join(directory, e->d_name);
        AUTO_FREE char *to = file_join(measurements, e->d_name);

        if (!is_data(e->d_name))
            continue;
        if (in_use(from))
            ++*left;
        else
            err = move(from, to);
        if (err && file_is_absent(from)) { /* somebody else has moved it meanwhile */
            hq_error_free(err);
            err = NULL;
        }
    }
    closedir(dir);
    return err;
}

/* ---- recordings ---- */

static void fetch_mark(const struct mark *mark, const char *measurements)
{
    AUTO_ERROR struct hq_error *err = NULL;
    unsigned left = 0;

    if (!is_here(mark)) {
        log_warn("a part of the measurements is still in %s on %s; `hq build` of this recording fetches it there",
                 mark->directory, mark->host);
        return;
    }
    if (file_exists(mark->directory) && !is_trusted(mark->directory)) {
        log_warn("%s names %s, which is no directory of yours that `hq record` makes; nothing is taken from there",
                 mark->path, mark->directory);
        return;
    }
    if (file_is_absent(mark->directory))
        log_warn("%s, where a part of the measurements was, is no longer there", mark->directory);
    err = elsewhere_move(mark->directory, measurements, &left);
    if (err)
        log_warn("%s; a part of the measurements stays in %s", err->message, mark->directory);
    else if (left)
        log_warn("processes that still run write to %s; what they measure is fetched when they have ended (%u now)",
                 mark->directory, left);
    else if (!rmdir(mark->directory) || errno == ENOENT)
        unlink(mark->path);
}

void elsewhere_fetch(const char *input)
{
    AUTO_FREE char *below = file_join(input, HQM_DIRECTORY);
    const char *measurements = file_is_dir(below) ? below : input;
    AUTO(marks_deinit) struct marks marks = {0};
    AUTO_ERROR struct hq_error *err = find_marks(measurements, &marks);

    if (err)
        log_warn("%s; whether a part of the measurements is still elsewhere is not known", err->message);
    vec_foreach(m, &marks)
        fetch_mark(m, measurements);
}

static struct hq_error *has_running(const char *directory, bool *found)
{
    struct hq_error *err = NULL;
    DIR *dir = file_dir_open(directory, &err);

    *found = false;
    for (const struct dirent *e; dir && !*found && (e = file_dir_next(dir, directory, &err));) {
        AUTO_FREE char *path = file_join(directory, e->d_name);
        *found = in_use(path);
    }
    if (dir)
        closedir(dir);
    return err;
}

struct hq_error *elsewhere_check(const char *measurements, const char *database)
{
    AUTO(marks_deinit) struct marks marks = {0};
    bool running;

    HQ_TRY(find_marks(measurements, &marks));
    vec_foreach(m, &marks) {
        if (!is_here(m))
            return hq_error_new(
                HQ_USAGE,
                "a part of the recording %s is in %s on %s, and its program may still run there; name another with -o, "
                "fetch it by `hq build %s` there, or remove %s",
                database, m->directory, m->host, database, m->path);
        if (!is_trusted(m->directory))
            continue;
        HQ_TRY(has_running(m->directory, &running));
        if (running)
            return hq_error_new(
                HQ_USAGE,
                "the program that %s is a recording of still runs and writes to %s; name another with -o, or wait for "
                "its end",
                database, m->directory);
    }
    return NULL;
}

static struct hq_error *discard_files(const char *directory)
{
    struct hq_error *err = NULL;
    DIR *dir = file_dir_open(directory, &err);

    for (const struct dirent *e; dir && !err && (e = file_dir_next(dir, directory, &err));) {
        AUTO_FREE char *path = is_data(e->d_name) ? file_join(directory, e->d_name) : NULL;

        if (path)
            err = file_remove(path);
    }
    if (dir)
        closedir(dir);
    rmdir(directory);
    return err;
}

struct hq_error *elsewhere_discard(const char *measurements)
{
    AUTO(marks_deinit) struct marks marks = {0};

    HQ_TRY(find_marks(measurements, &marks));
    vec_foreach(m, &marks) {
        if (is_here(m) && is_trusted(m->directory))
            HQ_TRY(discard_files(m->directory));
        HQ_TRY(file_remove(m->path));
    }
    return NULL;
}
