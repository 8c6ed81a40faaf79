/* SPDX-License-Identifier: BSD-3-Clause */
/* The atomic writer of file.h. */
#include "common/file.h"
#include "common/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void release(struct file_writer *w)
{
    free(w->path);
    *w = (struct file_writer){0};
}

/* Symbolic links are followed, so that the file behind one is replaced and the link stays. */
static struct hq_error *open_fd(struct file_writer *w, int *fd)
{
    struct stat st;
    bool there = stat(w->path, &st) == 0;

    *fd = -1;
    if (there && S_ISDIR(st.st_mode))
        return hq_error_new(HQ_DATA, "%s: is a directory, not a file to write to", w->path);
    if (there && !S_ISREG(st.st_mode)) {
        *fd = open(w->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } else {
        char *real = there ? realpath(w->path, NULL) : NULL;

        if (real) {
            free(w->path);
            w->path = real;
        }
        temporary_remove_left(w->path);
        *fd = temporary_open(w->path, &w->temp);
    }
    return *fd < 0 ? hq_error_errno(HQ_DATA, "%s: cannot be written", w->path) : NULL;
}

struct hq_error *file_writer_open(struct file_writer *w, const char *path)
{
    int fd;

    *w = (struct file_writer){.path = xstrdup(path)};
    struct hq_error *err = open_fd(w, &fd);

    if (err) {
        release(w);
        return err;
    }
    w->file = fdopen(fd, w->temp ? "w+" : "w");
    if (!w->file) {
        err = hq_error_errno(HQ_DATA, "%s: cannot be written", path);
        close(fd);
        file_writer_discard(w);
    }
    return err;
}

static void keep_error(struct file_writer *w)
{
    if (!w->write_errno)
        w->write_errno = errno ? errno : EIO;
}

void file_writer_write(struct file_writer *w, const void *data, size_t n)
{
    if (n && fwrite(data, 1, n, w->file) != n)
        keep_error(w);
    w->offset += n;
}

void file_writer_pad(struct file_writer *w, size_t align)
{
    static const char zeros[4096];

    file_writer_write(w, zeros, (size_t)-w->offset & (align - 1));
}

void file_writer_patch(struct file_writer *w, uint64_t offset, const void *data, size_t n)
{
    if (fseeko(w->file, (off_t)offset, SEEK_SET) != 0 || fwrite(data, 1, n, w->file) != n ||
        fseeko(w->file, 0, SEEK_END) != 0)
        keep_error(w);
}

/* A rename survives a crash once its directory is on the disk; not every file system can do it, so errors do not count.
 */
static void sync_directory(const char *path)
{
    AUTO_FREE char *dir = file_dirname(path);
    AUTO_CLOSE int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        fsync(fd);
}

static void finish_stream(struct file_writer *w)
{
    if (fflush(w->file) != 0)
        keep_error(w);
    else if (ferror(w->file) && !w->write_errno)
        w->write_errno = EIO;
    if (w->temp && !w->write_errno && fsync(fileno(w->file)) != 0)
        keep_error(w);
    if (fclose(w->file) != 0)
        keep_error(w);
    w->file = NULL;
}

struct hq_error *file_writer_commit(struct file_writer *w)
{
    struct hq_error *err = NULL;

    finish_stream(w);
    bool replaces = w->temp;
    if (w->temp && !w->write_errno) {
        if (temporary_rename(w->temp, w->path) != 0)
            keep_error(w);
        else
            w->temp = NULL;
    }
    if (w->write_errno) {
        errno = w->write_errno;
        err = hq_error_errno(HQ_DATA, "%s: cannot be written", w->path);
        file_writer_discard(w);
        return err;
    }
    if (replaces)
        sync_directory(w->path);
    release(w);
    return NULL;
}

void file_writer_discard(struct file_writer *w)
{
    if (w->file)
        fclose(w->file);
    temporary_remove(w->temp);
    release(w);
}
