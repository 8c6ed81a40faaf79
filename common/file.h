/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files: mapping, atomic writing, paths, directories, locks, and the user's own directories. Errors are HQ_DATA
 * sentences that begin with the path. Returned paths are malloc'ed and belong to the caller. Not for signal handlers.
 */
#ifndef HQ_COMMON_FILE_H
#define HQ_COMMON_FILE_H

#include "common/err.h"
#include "common/str.h"
#include "common/temporary.h"
#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- reading ---- */

/* Which file it is, and when it was written last: as long as these are equal nobody has written into it, or he has set
 * the time back. Not its time of change, which a link to it changes, too, and noting that it was used (kept.h). */
struct file_stamp {
    uint64_t device, inode, size;
    int64_t seconds, nanoseconds;
};
struct stat;
struct file_stamp file_stamp_of(const struct stat *st);

/*
 * A regular file in memory, read-only. An empty file has data != NULL and size 0. If somebody truncates the file in
 * place meanwhile, access ends the process with a sentence (common/guard.h): this project's own files are only ever
 * replaced by rename.
 */
struct file_map {
    const uint8_t *data;
    size_t size;
    char *path;
    void *mapping;            /* private, as all below: NULL for an empty file */
    struct guard *guard;      /* of the mapping */
    struct file_stamp opened; /* as it was then */
};

/* Refuses directories, devices, pipes, and does not wait on them. */
struct hq_error *file_map_open(const char *path, struct file_map *out);
/* How the file has changed since. Only what is written into it changes what is in the map: with FILE_GONE and
 * FILE_REPLACED that is still the file of before. Where it cannot be looked at it counts as it was. */
enum file_change { FILE_AS_OPENED, FILE_GONE, FILE_REPLACED, FILE_WRITTEN };
enum file_change file_map_change(const struct file_map *map);
/* A zeroed map is allowed. */
void file_map_close(struct file_map *map);

/* Adds the content of a file of any kind (also in /proc, or a pipe) to out, which must not become longer than `limit`
 * bytes. */
struct hq_error *file_read(const char *path, struct str *out, size_t limit);

/* Likewise of a path that no user has written, in a recording or in debug information: what is no file is refused, and
 * nobody waits for a pipe's writer. */
struct hq_error *file_read_regular(const char *path, struct str *out, size_t limit);

/* ---- writing ---- */

/*
 * Writes to a temporary file beside the target and renames it over the target when all is on the disk, so a reader sees
 * the old file or the whole new one. Write errors are kept and reported by file_writer_commit. A target that is a
 * device or pipe (`-o /dev/stdout`) is written directly. In file_writer.c. Every opened writer ends with commit or
 * discard.
 */
struct file_writer {
    FILE *file; /* may be used with stdio */
    char *path;
    struct temporary *temp; /* private: NULL when written directly */
    uint64_t offset;        /* bytes written through file_writer_write and _pad */
    int write_errno;        /* private: the first error, 0 none */
};

/* Errors: nothing can be written beside or at `path`; the writer is then ended. */
struct hq_error *file_writer_open(struct file_writer *w, const char *path);
/* Appends n bytes; an error is kept for the commit. */
void file_writer_write(struct file_writer *w, const void *data, size_t n);
/* Zero bytes until offset is a multiple of align, a power of two up to 4096. */
void file_writer_pad(struct file_writer *w, size_t align);
/* Overwrites n bytes at an earlier offset; the end of the file stays where it is. Not for pipes. */
void file_writer_patch(struct file_writer *w, uint64_t offset, const void *data, size_t n);
/* Flush, fsync, rename. On an error the temporary file is removed and the target is as it was. */
struct hq_error *file_writer_commit(struct file_writer *w);
/* Removes the temporary file. Nothing happens after commit, or on a zeroed writer. */
void file_writer_discard(struct file_writer *w);

/* ---- paths: text only ---- */

/* a/b; only b if it is absolute or a is empty. */
char *file_join(const char *a, const char *b);
/* As dirname(1): "a/b" -> "a", "/a" -> "/", "a" -> ".", trailing slashes ignored. */
char *file_dirname(const char *path);
/* The part of path after the last slash, in place: "a/b" -> "b", "a/" -> "". */
const char *file_basename(const char *path);
/* path with HOME for a leading "~/" ("~" alone too); a copy of path otherwise or without HOME. */
char *file_expand_home(const char *path);

/* ---- directories ---- */

bool file_exists(const char *path); /* anything, symbolic links followed; file_dirs.c */
/* Whether nothing is there for sure. Of what cannot be looked at (no right to, a damaged disk, a circle of links)
 * neither this nor file_exists holds: who goes on without a file asks this, so that opening it says why it cannot be
 * read. */
bool file_is_absent(const char *path);
bool file_is_dir(const char *path);
/* Whether two paths lead to one file or directory that is there. */
bool file_is_same(const char *a, const char *b);
/* Whether something is there that is no plain file: a directory, a pipe, a device, which reading may not come back
 * from. */
bool file_is_other(const char *path);
/* As opendir; NULL without an error: there is none. Of one that cannot be opened nobody may say that it is empty. */
DIR *file_dir_open(const char *path, struct hq_error **err);
/* As readdir, but a directory that cannot be read on is an error, not its end. `*err` is NULL before. */
const struct dirent *file_dir_next(DIR *dir, const char *path, struct hq_error **err);
/* *empty for a directory without entries. An error if it cannot be read. */
struct hq_error *file_dir_is_empty(const char *path, bool *empty);
/* *only for one that has no entries but such as begin with `prefix`; NULL: none at all. */
struct hq_error *file_dir_holds_only(const char *path, const char *prefix, bool *only);
/* mkdir -p: no error if it is there already. */
struct hq_error *file_make_dirs(const char *path);
/* No error if it is not there. */
struct hq_error *file_remove(const char *path);
/* So many directories file_make_dirs would make. */
size_t file_count_missing(const char *path);
/* Takes back what file_make_dirs made: removes `path` and those above it, `count` in all, up to the first that is not
 * empty. */
void file_remove_empty(const char *path, size_t count);
/* rm -rf: symbolic links are removed, not followed; no error if there is nothing. */
struct hq_error *file_remove_tree(const char *path);

/* ---- advisory locks ---- */

/* Held by this process (flock) until file_unlock or its end. The lock file is created and left behind. */
struct file_lock {
    int fd; /* -1: not held */
};

/* *got tells whether the lock is ours; that somebody else has it is no error. */
struct hq_error *file_lock_try(const char *path, struct file_lock *lock, bool *got);
struct hq_error *file_lock_wait(const char *path, struct file_lock *lock);
void file_unlock(struct file_lock *lock);
/* Removes the file too, where what it was to guard has not come to be. Who waits for it makes another one. */
void file_lock_remove(struct file_lock *lock, const char *path);

/* ---- this program ---- */

/* Its real path, also where /proc is not mounted; NULL if it cannot be found. */
char *file_program(void);

/* ---- the user's directories (XDG base directory specification), with "hq" appended; not created ---- */

/* XDG_CACHE_HOME or ~/.cache. NULL if neither it nor HOME is an absolute path: do without. */
char *file_cache_dir(void);
/* XDG_STATE_HOME or ~/.local/state */
char *file_state_dir(void);
/* XDG_CONFIG_HOME or ~/.config */
char *file_config_dir(void);

#endif
