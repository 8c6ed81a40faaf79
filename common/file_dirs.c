/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories and locks of file.h. */
#include "common/file.h"
#include "common/mem.h"
#include "common/str.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0;
}

bool file_is_absent(const char *path)
{
    struct stat st;

    return stat(path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG);
}

bool file_is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool file_is_same(const char *a, const char *b)
{
    struct stat one, other;

    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool file_is_other(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

DIR *file_dir_open(const char *path, struct hq_error **err)
{
    DIR *dir = opendir(path);

    if (!dir && errno != ENOENT && errno != ENOTDIR)
        *err = hq_error_errno(HQ_DATA, "%s: cannot be opened as a directory", path);
    return dir;
}

const struct dirent *file_dir_next(DIR *dir, const char *path, struct hq_error **err)
{
    errno = 0;
    const struct dirent *e = readdir(dir);

    if (!e && errno)
        *err = hq_error_errno(HQ_DATA, "%s: its files cannot all be listed", path);
    return e;
}

struct hq_error *file_dir_holds_only(const char *path, const char *prefix, bool *only)
{
    DIR *dir = opendir(path);
    struct hq_error *err = NULL;
    const struct dirent *e;

    *only = true;
    if (!dir)
        return hq_error_errno(HQ_DATA, "%s: cannot be opened as a directory", path);
    while (*only && (e = file_dir_next(dir, path, &err)))
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            *only = prefix && str_begins(e->d_name, prefix);
    closedir(dir);
    return err;
}

struct hq_error *file_dir_is_empty(const char *path, bool *empty)
{
    return file_dir_holds_only(path, NULL, empty);
}

/* Several processes may make the same directories at the same time, so "it exists" is never an error by itself. */
struct hq_error *file_make_dirs(const char *path)
{
    AUTO_FREE char *p = xstrdup(path);

    for (char *slash = p; *slash;) {
        slash += strspn(slash, "/");
        slash += strcspn(slash, "/");
        char kept = *slash;

        *slash = '\0';
        int why = mkdir(p, 0777) == 0 ? 0 : errno;

        if (why && !file_is_dir(p)) {
            errno = why; /* looking whether it exists has set another */
            return hq_error_errno(HQ_DATA, "%s: cannot be made a directory", p);
        }
        *slash = kept;
    }
    return NULL;
}

struct hq_error *file_remove(const char *path)
{
    return !unlink(path) || errno == ENOENT || errno == ENOTDIR
               ? NULL
               : hq_error_errno(HQ_DATA, "%s: cannot be removed", path);
}

size_t file_count_missing(const char *path)
{
    AUTO_FREE char *p = xstrdup(path);
    size_t count = 0;

    for (; !file_exists(p) && strcmp(p, ".") && strcmp(p, "/"); count++) {
        char *above = file_dirname(p);

        free(p);
        p = above;
    }
    return count;
}

void file_remove_empty(const char *path, size_t count)
{
    AUTO_FREE char *p = xstrdup(path);

    for (; count && (rmdir(p) == 0 || errno == ENOENT); count--) {
        char *above = file_dirname(p);

        free(p);
        p = above;
    }
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path) != 0 && errno != ENOENT ? -1 : 0;
}

struct hq_error *file_remove_tree(const char *path)
{
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
        return hq_error_errno(HQ_DATA, "%s: cannot be removed", path);
    return NULL;
}

enum { LOCK_TRIES = 100 }; /* not for ever: there are file systems whose files change their numbers */

/* Who waits for a lock may get that of a file that its holder has removed; others would then lock another one. */
static bool is_removed(const char *path, int fd)
{
    struct stat there, own;

    if (stat(path, &there))
        return errno == ENOENT;
    return !fstat(fd, &own) && (there.st_dev != own.st_dev || there.st_ino != own.st_ino);
}

static struct hq_error *lock_file(const char *path, struct file_lock *lock, int how)
{
    int rc;

    for (int tries = 0;; tries++) {
        lock->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock->fd < 0)
            return hq_error_errno(HQ_DATA, "%s: cannot be opened as a lock file", path);
        do
            rc = flock(lock->fd, LOCK_EX | how);
        while (rc != 0 && errno == EINTR);
        if (rc == 0 && (tries >= LOCK_TRIES || !is_removed(path, lock->fd)))
            return NULL;
        struct hq_error *err = rc == 0 || errno == EWOULDBLOCK ? NULL
                                                               : hq_error_errno(HQ_DATA, "%s: cannot be locked", path);

        file_unlock(lock);
        if (rc != 0)
            return err;
    }
}

struct hq_error *file_lock_try(const char *path, struct file_lock *lock, bool *got)
{
    struct hq_error *err = lock_file(path, lock, LOCK_NB);

    *got = !err && lock->fd >= 0;
    return err;
}

struct hq_error *file_lock_wait(const char *path, struct file_lock *lock)
{
    return lock_file(path, lock, 0);
}

void file_lock_remove(struct file_lock *lock, const char *path)
{
    if (lock->fd >= 0)
        unlink(path);
    file_unlock(lock);
}

void file_unlock(struct file_lock *lock)
{
    if (lock->fd >= 0)
        close(lock->fd);
    lock->fd = -1;
}
