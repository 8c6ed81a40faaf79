/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/file.h"
#include "common/guard.h"
#include "common/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ---- */

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)                    ? "a directory"
           : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
           : S_ISFIFO(mode)                 ? "a pipe"
           : S_ISSOCK(mode)                 ? "a socket"
                                            : "something else";
}

struct file_stamp file_stamp_of(const struct stat *st)
{
    return (struct file_stamp){st->st_dev, st->st_ino, (uint64_t)st->st_size, st->st_mtim.tv_sec, st->st_mtim.tv_nsec};
}

static struct hq_error *map_fd(int fd, const char *path, struct file_map *out)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return hq_error_errno(HQ_DATA, "%s: cannot be examined", path);
    if (!S_ISREG(st.st_mode))
        return hq_error_new(HQ_DATA, "%s: is %s, not a file", path, kind_of(st.st_mode));
    if (st.st_size > 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

        if (p == MAP_FAILED) {
            mem_end_if_refused(); /* many files are read if they are there, and their absence is no error */
            return hq_error_errno(HQ_DATA, "%s: cannot be mapped into memory", path);
        }
        out->mapping = p;
    }
    out->data = out->mapping ? out->mapping : (const uint8_t *)"";
    out->size = (size_t)st.st_size;
    out->path = xstrdup(path);
    out->opened = file_stamp_of(&st);
    if (out->mapping)
        out->guard = guard_add(out->mapping, out->size, out->path, GUARD_END);
    return NULL;
}

struct hq_error *file_map_open(const char *path, struct file_map *out)
{
    *out = (struct file_map){0};
    /* O_NONBLOCK: opening a pipe that nobody writes to would wait. */
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0) {
        mem_end_if_refused();
        return hq_error_errno(HQ_DATA, "%s: cannot be opened", path);
    }
    return map_fd(fd, path, out);
}

enum file_change file_map_change(const struct file_map *map)
{
    struct stat st;

    if (stat(map->path, &st) != 0)
        return errno == ENOENT || errno == ENOTDIR ? FILE_GONE : FILE_AS_OPENED;
    struct file_stamp now = file_stamp_of(&st);

    if (!memcmp(&now, &map->opened, sizeof now))
        return FILE_AS_OPENED;
    return now.device == map->opened.device && now.inode == map->opened.inode ? FILE_WRITTEN : FILE_REPLACED;
}

void file_map_close(struct file_map *map)
{
    guard_remove(map->guard);
    if (map->mapping)
        munmap(map->mapping, map->size);
    free(map->path);
    *map = (struct file_map){0};
}

static struct hq_error *read_fd(int fd, const char *path, struct str *out, size_t limit)
{
    for (;;) {
        char buffer[16384];
        ssize_t n = read(fd, buffer, sizeof buffer);

        if (n == 0)
            return NULL;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return hq_error_errno(HQ_DATA, "%s: cannot be read", path);
        if (out->len > limit || (size_t)n > limit - out->len)
            return hq_error_new(HQ_DATA, "%s: is longer than the %zu bytes that are read from such a file", path,
                                limit);
        str_addn(out, buffer, (size_t)n);
    }
}

struct hq_error *file_read(const char *path, struct str *out, size_t limit)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    return fd < 0 ? hq_error_errno(HQ_DATA, "%s: cannot be opened", path) : read_fd(fd, path, out, limit);
}

struct hq_error *file_read_regular(const char *path, struct str *out, size_t limit)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        return hq_error_errno(HQ_DATA, "%s: cannot be opened", path);
    if (!S_ISREG(st.st_mode))
        return hq_error_new(HQ_DATA, "%s: is %s, not a file", path, kind_of(st.st_mode));
    return read_fd(fd, path, out, limit);
}

/* ---- paths ---- */

char *file_join(const char *a, const char *b)
{
    size_t n = strlen(a);

    if (n == 0 || b[0] == '/')
        return xstrdup(b);
    return xasprintf("%s%s%s", a, a[n - 1] == '/' ? "" : "/", b);
}

char *file_dirname(const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n > 0 && path[n - 1] != '/')
        n--;
    while (n > 1 && path[n - 1] == '/')
        n--;
    return n ? xstrndup(path, n) : xstrdup(".");
}

const char *file_basename(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

char *file_expand_home(const char *path)
{
    const char *home = getenv("HOME");

    if (path[0] != '~' || (path[1] != '/' && path[1] != '\0') || !home || !*home)
        return xstrdup(path);
    return path[1] ? file_join(home, path + 2) : xstrdup(home);
}

char *file_program(void)
{
    char *path = realpath("/proc/self/exe", NULL);

    return path ? path : realpath((const char *)getauxval(AT_EXECFN), NULL);
}

static char *user_dir(const char *variable, const char *below_home)
{
    const char *dir = getenv(variable), *home = getenv("HOME");

    if (dir && dir[0] == '/')
        return file_join(dir, "hq");
    if (home && home[0] == '/')
        return xasprintf("%s/%s/hq", home, below_home);
    return NULL;
}

char *file_cache_dir(void)
{
    return user_dir("XDG_CACHE_HOME", ".cache");
}

char *file_state_dir(void)
{
    return user_dir("XDG_STATE_HOME", ".local/state");
}

char *file_config_dir(void)
{
    return user_dir("XDG_CONFIG_HOME", ".config");
}
