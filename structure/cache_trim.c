/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the cache of structures small: what has not been used for long is removed (cache.h). */
#include "structure/cache.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/vec.h"
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DAY 86400

struct entry {
    char *path;
    uint64_t size;
    time_t used;
};
struct entries {
    struct entry *data;
    size_t len, cap;
};

/* Not the time of access: many file systems are mounted without. */
void cache_note_use(const char *path)
{
    struct stat st;

    if (!stat(path, &st) && time(NULL) - st.st_mtime > DAY)
        utimensat(AT_FDCWD, path, NULL, 0);
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && !strcmp(name + n - m, end);
}

/* Nobody writes for a day: the writer is dead. */
static bool is_left_behind(const char *name, const struct stat *st)
{
    return strstr(name, ".hqs.tmp.") && time(NULL) - st->st_mtime > DAY;
}

static void list(const char *directory, struct entries *out)
{
    DIR *d = opendir(directory);

    for (struct dirent *e; d && (e = readdir(d));) {
        char *path = file_join(directory, e->d_name);
        struct stat st;

        if (lstat(path, &st) || !S_ISREG(st.st_mode)) {
            free(path);
        } else if (ends_with(e->d_name, ".hqs")) {
            vec_push(out, (struct entry){path, (uint64_t)st.st_blocks * 512, st.st_mtime});
        } else {
            if (is_left_behind(e->d_name, &st))
                unlink(path);
            free(path);
        }
    }
    if (d)
        closedir(d);
}

static int by_use(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->used != y->used)
        return x->used < y->used ? -1 : 1;
    return strcmp(x->path, y->path);
}

void cache_trim(const char *directory, uint64_t most)
{
    struct entries all = {0};
    uint64_t sum = 0;

    list(directory, &all);
    vec_foreach(e, &all)
        sum += e->size;
    if (sum > most) {
        vec_sort(&all, by_use);
        for (size_t i = 0; i < all.len && sum > most / 4 * 3; i++)
            if (!unlink(all.data[i].path))
                sum -= all.data[i].size;
    }
    vec_foreach(e, &all)
        free(e->path);
    vec_deinit(&all);
}
