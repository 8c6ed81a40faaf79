/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/kept.h"
#include "common/file.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/units.h"
#include "common/vec.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MINUTE = 60, DAY = 86400 };
#define DEFAULT_MOST ((uint64_t)4 << 30)

struct entry {
    char *path;
    uint64_t size;
    time_t used;
};
struct entries {
    struct entry *data;
    size_t len, cap;
};

const struct kept_part kept_parts[] = {{"structure", ".hqs", "recovered structure of binaries"},
                                       {"import", ".db", "imported files of other tools"},
                                       {"databases", ".db",
                                        "databases of recordings in directories that cannot be "
                                        "written to"},
                                       {0}};

static time_t last_use(const struct stat *st)
{
    return st->st_atime > st->st_mtime ? st->st_atime : st->st_mtime;
}

/* The time of change stays: whoever has the file open takes another one for a file that was written to. */
void kept_note_use(const char *path)
{
    struct stat st;

    if (!stat(path, &st) && time(NULL) - last_use(&st) > MINUTE)
        utimensat(AT_FDCWD, path, (struct timespec[]){{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}}, 0);
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && !strcmp(name + n - m, end);
}

/* The temporary file of a writer that is gone; or nobody writes for a day, whatever its name says. */
static bool is_left_behind(const char *name, const char *suffix, const struct stat *st)
{
    AUTO_FREE char *mark = xasprintf("%s" FILE_TEMPORARY, suffix);
    const char *at = strstr(name, mark);

    return at && (time(NULL) - st->st_mtime > DAY || temporary_is_left(at + strlen(mark), st));
}

/* A directory that is not there has no files. */
static struct hq_error *list(const char *directory, const char *suffix, struct entries *out)
{
    DIR *d = opendir(directory);
    struct hq_error *err = NULL;

    if (!d)
        return errno == ENOENT ? NULL : hq_error_errno(HQ_DATA, "%s: its files cannot be listed", directory);
    for (const struct dirent *e; (e = file_dir_next(d, directory, &err));) {
        char *path = file_join(directory, e->d_name);
        struct stat st;

        if (lstat(path, &st) || !S_ISREG(st.st_mode)) {
            free(path);
        } else if (ends_with(e->d_name, suffix)) {
            vec_push(out, (struct entry){path, (uint64_t)st.st_blocks * 512, last_use(&st)});
        } else {
            if (is_left_behind(e->d_name, suffix, &st))
                unlink(path);
            free(path);
        }
    }
    closedir(d);
    return err;
}

static int by_use(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->used != y->used)
        return x->used < y->used ? -1 : 1;
    return strcmp(x->path, y->path);
}

static uint64_t sum_of(const struct entries *all)
{
    uint64_t sum = 0;

    vec_foreach(e, all)
        sum += e->size;
    return sum;
}

static void deinit(struct entries *all)
{
    vec_foreach(e, all)
        free(e->path);
    vec_deinit(all);
}

static void trim(struct entries *all, uint64_t most)
{
    uint64_t sum = sum_of(all);

    if (sum <= most)
        return;
    vec_sort(all, by_use);
    for (size_t i = 0; i < all->len && sum > most / 4 * 3; i++)
        if (!unlink(all->data[i].path))
            sum -= all->data[i].size;
}

void kept_trim(const char *directory, const char *suffix, uint64_t most)
{
    struct entries all = {0};

    hq_error_free(list(directory, suffix, &all));
    trim(&all, most);
    deinit(&all);
}

uint64_t kept_most(void)
{
    const char *text = getenv("HQ_CACHE_MAX");
    uint64_t most = DEFAULT_MOST;
    AUTO_ERROR struct hq_error *error = text && *text ? units_parse_count(text, &most) : NULL;

    if (error)
        log_warn("HQ_CACHE_MAX: %s; 4GiB counts", error->message);
    return error ? DEFAULT_MOST : most;
}

void kept_trim_all(const char *cache)
{
    struct entries all = {0};

    for (const struct kept_part *p = kept_parts; p->directory; p++) {
        AUTO_FREE char *directory = file_join(cache, p->directory);

        hq_error_free(list(directory, p->suffix, &all));
    }
    trim(&all, kept_most());
    deinit(&all);
}

struct hq_error *kept_look(const char *cache, const struct kept_part *part, struct kept_sum *out)
{
    AUTO_FREE char *directory = file_join(cache, part->directory);
    struct entries all = {0};
    struct hq_error *err = list(directory, part->suffix, &all);

    *out = (struct kept_sum){.files = all.len, .bytes = sum_of(&all)};
    vec_foreach(e, &all)
        out->oldest = out->oldest && out->oldest < e->used ? out->oldest : e->used;
    deinit(&all);
    return err;
}

struct hq_error *kept_clear(const char *cache, const struct kept_part *part, uint64_t *bytes)
{
    AUTO_FREE char *directory = file_join(cache, part->directory);
    struct entries all = {0};
    struct hq_error *err = list(directory, part->suffix, &all);

    vec_foreach(e, &all) {
        if (!unlink(e->path))
            *bytes += e->size;
        else if (errno != ENOENT && !err)
            err = hq_error_errno(HQ_DATA, "%s: cannot be removed", e->path);
    }
    deinit(&all);
    return err;
}
