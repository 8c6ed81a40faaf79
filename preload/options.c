/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/options.h"

#include "format/measurement.h"
#include "preload/confine.h"
#include "preload/raw.h"
#include "preload/text.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

struct options options __attribute__((aligned(64)));

/* A signal that waited before waits on. */
long write_quietly(int fd, const void *bytes, size_t count)
{
    static const struct timespec now;
    const uint64_t raised = 1ull << (SIGPIPE - 1) | 1ull << (SIGXFSZ - 1) | 1ull << (SIGTTOU - 1);
    uint64_t mask = 0, waiting = 0;

    raw_sigmask(SIG_BLOCK, &raised, &mask);
    raw_syscall(SYS_rt_sigpending, (long)&waiting, 8, 0, 0, 0, 0);
    waiting = raised & ~waiting;
    long written = raw_write(fd, bytes, count);
    if (written < (long)count)
        raw_syscall(SYS_rt_sigtimedwait, (long)&waiting, 0, (long)&now, 8, 0, 0);
    raw_sigmask(SIG_SETMASK, &mask, NULL);
    return written;
}

/* Names the file behind descriptor 2 when the library was loaded. A program that closes it, or puts another file there,
 * may have its data behind it. */
static struct stat standard_error;
static bool has_standard_error;

void say_prepare(void)
{
    has_standard_error = raw_fstat(2, &standard_error) == 0;
}

static bool is_standard_error(int fd)
{
    struct stat now;

    return has_standard_error && raw_fstat(fd, &now) == 0 && now.st_dev == standard_error.st_dev &&
           now.st_ino == standard_error.st_ino && now.st_rdev == standard_error.st_rdev;
}

/* A pipe or terminal that nobody drains would hold the program up. */
static bool takes_a_line(int fd)
{
    static const struct timespec now;
    struct pollfd file = {.fd = fd, .events = POLLOUT};

    return raw_syscall(SYS_ppoll, (long)&file, 1, (long)&now, 0, 0, 0) > 0;
}

void say(const char *part, ...)
{
    char line[1024] = "hq: ";
    size_t length = 4;
    va_list parts;

    if (confined & CONFINE_SAYING || !is_standard_error(2))
        return;
    va_start(parts, part);
    for (const char *text = part; text; text = va_arg(parts, const char *))
        while (*text && length < sizeof line - 1)
            line[length++] = *text++;
    va_end(parts);
    line[length++] = '\n';
    if (takes_a_line(2))
        write_quietly(2, line, length);
}

static uint64_t number_of(const char *name)
{
    const char *text = getenv(name), *end;

    return text ? read_number(text, &end) : 0;
}

static void find_rank(void)
{
    static const struct {
        const char *variable, *launcher, *needs;
    } ranks[] = {
#define RANK(name, of, with) {name, of, with},
#include "format/ranks.def"
    };

    options.rank = -1;
    options.launcher = "";
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const char *value = getenv(ranks[i].variable);
        if (!value || *value < '0' || *value > '9' || (ranks[i].needs && !getenv(ranks[i].needs)))
            continue;
        options.rank = (int32_t)read_number(value, &value);
        options.launcher = ranks[i].launcher;
        return;
    }
}

static bool rank_wanted(const char *list)
{
    while (list && *list) {
        const char *end;
        int64_t first = (int64_t)read_number(list, &end), last = first;

        if (end == list)
            return true;
        if (*end == '-')
            last = (int64_t)read_number(end + 1, &end);
        if (options.rank >= first && options.rank <= last)
            return true;
        list = *end == ',' ? end + 1 : end;
        if (list == end && *end)
            return true;
    }
    return !list;
}

/* `hq record` asks for nothing else; but the environment may hold anything, and 0 or 1 ns would end the program. */
static uint64_t bearable(const char *name, uint64_t period)
{
    const uint64_t usual = 5000000, longest = UINT64_C(1) << 50;
    bool clock = !strcmp(name, "CPUTIME") || !strcmp(name, "REALTIME");

    return clock && (period < HQM_SHORTEST_PERIOD || period > longest) ? usual : period;
}

static void read_events(const char *text)
{
    while (text && *text && options.events < EVENTS_MAX) {
        size_t length = strcspn(text, ","), name = strcspn(text, ",@");

        if (name && name < sizeof options.name[0]) {
            memcpy(options.name[options.events], text, name);
            options.name[options.events][name] = 0;
            const char *end = text + name + 1;

            options.period[options.events] = bearable(options.name[options.events],
                                                      text[name] == '@' ? read_number(end, &end) : 0);
            options.events++;
        }
        text += length;
        text += *text == ',';
    }
}

static void find_host(void)
{
    struct utsname names;

    strcpy(options.host, "localhost");
    if (raw_uname(&names) == 0 && names.nodename[0] && strlen(names.nodename) < sizeof options.host) {
        strcpy(options.host, names.nodename);
        for (char *c = options.host; *c; c++)
            if (*c == '/')
                *c = '_';
    }
}

/* `hq record` describes its own host alone. */
static void find_machine(const char *text)
{
    size_t host = strlen(options.host);

    if (text && !strncmp(text, options.host, host) && text[host] == '/' && strlen(text + host) < sizeof options.machine)
        strcpy(options.machine, text + host + 1);
}

/* On its own host `hq record` moves the files. */
static void find_home(const char *home, const char *node)
{
    if (!home || !node || home[0] != '/' || strlen(home) >= sizeof options.home)
        return;
    strcpy(options.home, home);
    options.brings = strcmp(node, options.host);
}

bool options_read(void)
{
    const char *directory = getenv("HQ_DIR"), *trace = getenv("HQ_TRACE");

    if (!directory || directory[0] != '/' || strlen(directory) >= sizeof options.directory)
        return false;
    strcpy(options.directory, directory);
    find_host();
    find_home(getenv("HQ_HOME"), getenv("HQ_NODE"));
    find_machine(getenv("HQ_MACHINE"));
    find_rank();
    read_events(getenv("HQ_EVENTS"));
    options.launch = number_of("HQ_LAUNCH");
    options.trace = !trace || strcmp(trace, "0");
    options.from_us = number_of("HQ_FROM_US");
    options.until_us = number_of("HQ_UNTIL_US");
    options.max_size = number_of("HQ_MAX_SIZE");
    options.stopped = number_of("HQ_STOPPED") != 0;
    options.active = options.events > 0 && (options.rank < 0 || rank_wanted(getenv("HQ_RANKS")));
    return options.active;
}
