/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/file/image.h"

#include "preload/file/file.h"
#include "preload/walk/module_file.h"
#include "preload/walk/modules.h"
#include "preload/options.h"
#include "preload/raw.h"
#include "preload/sources/source.h"

#include <string.h>
#include <sys/auxv.h>

static void note(const char *key, const char *value)
{
    struct claim claim;
    struct hqm_info *info = *value ? file_claim(HQM_INFO, 1, &claim) : NULL;

    if (!info)
        return;
    info->key = file_string(key);
    info->value = file_string(value);
    file_publish(&claim);
}

void image_warn(const char *text)
{
    note("warning", text);
}

void image_warn_at_end(const char *text)
{
    note("warning", text);
    note(HQM_TOLD, text);
}

static bool plain(const char *word)
{
    return *word && !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-")];
}

/* Writes the word as a shell would need it, and moves `to` to where the next one goes; false: not all of it had room.
 */
static bool quote(char **to, const char *end, const char *word)
{
    bool bare = plain(word);
    char *at = *to;

    if (end - at < 8)
        return false;
    if (!bare)
        *at++ = '\'';
    for (; *word && end - at > 8; word++) {
        if (*word == '\'') {
            memcpy(at, "'\\''", 4);
            at += 4;
        } else {
            *at++ = *word;
        }
    }
    if (!bare)
        *at++ = '\'';
    *to = at;
    return !*word;
}

/* /proc/self/cmdline holds the arguments, each ended by a zero. " ..." at the end says that there are more of them. */
static void note_command(void)
{
    static char raw[2048], text[4000]; /* only one thread makes the file, perhaps on a small stack */
    static const char more[] = " ...";
    char *to = text, next;
    const char *end = text + sizeof text - sizeof more;
    int fd = raw_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
    long bytes = fd < 0 ? 0 : raw_read(fd, raw, sizeof raw - 1);
    bool whole = bytes < (long)sizeof raw - 1 || raw_read(fd, &next, 1) <= 0;

    if (fd >= 0)
        raw_close(fd);
    if (bytes <= 0)
        return;
    raw[bytes] = 0;
    for (const char *word = raw; word < raw + bytes; word += strlen(word) + 1) {
        if (to > text && to < end)
            *to++ = ' ';
        whole = quote(&to, end, word) && whole;
    }
    strcpy(to, whole ? "" : more);
    note("command", text);
}

/* Whoever looks for the program knows it by the name that it was started by, if that leads to the same file: a link's
 * (redis-server of Debian is a link to redis-check-rdb), not a script's, nor one that leads elsewhere in each process
 * (/proc/self/exe). */
static void note_started(const char *executable)
{
    static char path[4000];
    struct stat there, here;
    const char *name = (const char *)__getauxval(AT_EXECFN);
    size_t at = 0, length = name ? strlen(name) : 0;

    if (!length || length >= sizeof path / 2 || !strncmp(name, "/proc/", 6) || !strncmp(name, "/dev/fd/", 8))
        return;
    if (name[0] != '/') {
        long bytes = raw_syscall(SYS_getcwd, (long)path, (long)(sizeof path - length - 1), 0, 0, 0, 0);

        if (bytes <= 0)
            return;
        name += !strncmp(name, "./", 2) ? 2 : 0;
        at = (size_t)bytes;
        path[at - 1] = '/';
    }
    strcpy(path + at, name);
    if (strcmp(path, executable) && raw_stat(path, &there) == 0 && raw_stat(executable, &here) == 0 &&
        there.st_dev == here.st_dev && there.st_ino == here.st_ino)
        note("started as", path);
}

static void note_paths(void)
{
    static char path[4000];

    if (raw_syscall(SYS_getcwd, (long)path, sizeof path, 0, 0, 0, 0) > 0)
        note("directory", path);
    long bytes = module_program_path(path, sizeof path - 1);
    path[bytes] = 0;
    if (!bytes)
        return;
    note("executable", path);
    note_started(path);
}

static void note_event(int number, const struct source *source)
{
    struct claim claim;
    struct hqm_event *event = file_claim(HQM_EVENTS, 1, &claim);

    if (!event)
        return;
    event->name = file_string(options.name[number]);
    event->description = file_string(source->description);
    event->dimension = source->dimension;
    event->flags = (uint16_t)(source->flags |
                              (source->flags & HQM_EVENT_SAMPLED && options.trace ? HQM_EVENT_TRACED : 0));
    event->period = options.period[number];
    event->scale = source->scale;
    file_publish(&claim);
}

void image_describe(void)
{
    note_command();
    note("host", options.host);
    note("machine", options.machine);
    note_paths();
    note("launcher", options.launcher);
    note("collector", HQ_VERSION);
    for (int i = 0; i < options.events; i++)
        note_event(i, sources_of_event(i));
    modules_describe();
}
