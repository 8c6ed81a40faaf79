/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/file/deliver.h"

#include "preload/file/file.h"
#include "preload/options.h"
#include "preload/raw.h"
#include "preload/text.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { PATH = 2 * PATH_MAX + 256 };

static void mark_path(char path[PATH])
{
    const char *end = path + PATH;
    char *to = append(append(append(path, end, options.home), end, "/elsewhere-"), end, options.host);

    append(append(to, end, "-"), end, last_part(options.directory));
}

void deliver_prepare(void)
{
    static char path[PATH], text[PATH]; /* only one thread makes the file, perhaps on a small stack */
    const char *end = text + sizeof text;

    raw_mkdir(options.directory, 0700);
    mark_path(path);
    char *to = append(append(text, end, options.host), end, "\n");
    to = append(append(to, end, options.directory), end, "\n");
    int fd = raw_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    write_quietly(fd, text, (size_t)(to - text));
    raw_close(fd);
}

/* Memory of its own: the process may end on any stack, a small one too. */
struct room {
    char from[PATH], to[PATH], temporary[PATH + 8], buffer[16384];
};

static bool copy_all(int from, int to, struct room *room)
{
    long bytes;

    while ((bytes = raw_read(from, room->buffer, sizeof room->buffer)) > 0)
        for (long done = 0, more; done < bytes; done += more) {
            more = write_quietly(to, room->buffer + done, (size_t)(bytes - done));
            if (more <= 0)
                return false;
        }
    return bytes == 0;
}

/* Nothing is measured any more, but other threads may be at a sample that they have begun: then once more, so that
 * costs, nodes and trace in the copy are of one moment. Each has at most one, unless the program calls hq_start now. */
static bool copy_settled(int from, int to, struct room *room)
{
    const struct hqm_header *header = file_header();
    uint64_t before;
    int left = 16;

    do {
        before = __atomic_load_n(&header->samples, __ATOMIC_ACQUIRE);
        raw_syscall(SYS_lseek, from, 0, SEEK_SET, 0, 0, 0);
        raw_syscall(SYS_lseek, to, 0, SEEK_SET, 0, 0, 0);
        if (!copy_all(from, to, room))
            return false;
    } while (__atomic_load_n(&header->samples, __ATOMIC_ACQUIRE) != before && --left);
    return true;
}

/* The file gets its name when it is whole. */
static bool copy(struct room *room)
{
    char *const temporary = room->temporary, *const end = temporary + sizeof room->temporary;
    bool done = false;

    append(append(temporary, end, room->to), end, ".part");
    int source = raw_open(room->from, O_RDONLY | O_CLOEXEC, 0),
        target = source < 0 ? -1 : raw_open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (target >= 0) {
        done = copy_settled(source, target, room);
        done &= raw_close(target) == 0;
        done = done && raw_rename(temporary, room->to) == 0;
    }
    if (source >= 0)
        raw_close(source);
    return done;
}

static void image_path(char path[PATH], const char *directory, uint32_t pid, uint32_t serial)
{
    const char *end = path + PATH;
    char *to = append(append(append(append(path, end, directory), end, "/"), end, options.host), end, "-");

    to = append(append_number(to, end, pid), end, "-");
    append(append_number(to, end, serial), end, HQM_SUFFIX);
}

static void deliver_image(struct room *room, uint32_t pid, uint32_t serial)
{
    image_path(room->from, options.directory, pid, serial);
    image_path(room->to, options.home, pid, serial);
    if (copy(room))
        raw_unlink(room->from);
}

void deliver(void)
{
    const struct hqm_header *header = file_header();
    struct room *room = options.brings && header ? raw_memory(sizeof *room) : NULL;

    if (!room)
        return;
    atomic_store(&options.stopped, true);
    for (uint32_t serial = 0; serial <= header->serial; serial++)
        deliver_image(room, header->pid, serial);
    if (raw_rmdir(options.directory) < 0)
        return;
    mark_path(room->from);
    raw_unlink(room->from);
    /* Somebody may have begun to use the directory between the two. */
    struct stat status;
    if (raw_stat(options.directory, &status) == 0)
        deliver_prepare();
}
