/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq record --buffer DIR`: measurement files grow in a directory of this node, and are moved into the recording when their process has ended. */
#include "repl/record.h"

#include "common/file.h"
#include "common/mem.h"
#include "format/measurement.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The innermost directory on the way to `directory` that is there already; absolute. */
static char *find_existing(const char *directory)
{
    AUTO_FREE char *path = xstrdup(directory);

    while (!file_exists(path) && strcmp(path, ".") != 0) {
        char *above = file_dirname(path);

        free(path);
        path = above;
    }
    return realpath(path, NULL);
}

struct hq_error *record_buffer_open(struct record_place *place, const char *directory)
{
    place->buffer_above = find_existing(directory);
    /* Another rank that has ended may remove the directory between the two steps. */
    for (int i = 0; i < 10 && !place->buffer; i++) {
        AUTO_FREE char *pattern = file_join(directory, "hq-XXXXXX");

        HQ_TRY(file_make_dirs(directory));
        if (mkdtemp(pattern))
            place->buffer = realpath(pattern, NULL);
        else if (errno != ENOENT)
            break;
    }
    return place->buffer ? NULL : hq_error_errno(HQ_DATA, "--buffer %s", directory);
}

void record_buffer_remove(const struct record_place *place)
{
    AUTO_FREE char *path = place->buffer ? xstrdup(place->buffer) : NULL;
    size_t kept = place->buffer_above ? strlen(place->buffer_above) : 0;

    while (path && rmdir(path) == 0) {
        char *above = file_dirname(path);

        free(path);
        path = above;
        if (!kept || strlen(path) <= kept || strncmp(path, place->buffer_above, kept) != 0)
            return;
    }
}

/* Does the process that writes the file still run? */
static bool in_use(const char *path)
{
    struct hqm_header header = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool read_it = fd >= 0 && read(fd, &header, sizeof header) == sizeof header && memcmp(header.magic, HQM_MAGIC, sizeof header.magic) == 0;

    if (fd >= 0)
        close(fd);
    return read_it && header.state == HQM_RUNNING && (kill((pid_t)header.pid, 0) == 0 || errno == EPERM);
}

static struct hq_error *move(const char *from, const char *to)
{
    struct file_map map = { 0 };
    struct file_writer writer = { 0 };

    if (file_exists(to))
        return unlink(from) == 0 ? NULL : hq_error_errno(HQ_DATA, "%s", from);
    HQ_TRY(file_map_open(from, &map));
    struct hq_error *error = file_writer_open(&writer, to);
    if (!error) {
        file_writer_write(&writer, map.data, map.size);
        error = file_writer_commit(&writer);
    }
    file_map_close(&map);
    if (!error)
        unlink(from);
    return error;
}

struct hq_error *record_buffer_collect(const struct record_place *place, unsigned *left)
{
    DIR *directory = place->buffer ? opendir(place->buffer) : NULL;
    struct hq_error *error = NULL;
    struct dirent *entry;

    *left = 0;
    while (directory && !error && (entry = readdir(directory))) {
        if (entry->d_name[0] == '.')
            continue;
        char *from = file_join(place->buffer, entry->d_name), *to = file_join(place->measurements, entry->d_name);
        if (in_use(from))
            ++*left;
        else
            error = move(from, to);
        free(from);
        free(to);
    }
    if (directory)
        closedir(directory);
    return error;
}
