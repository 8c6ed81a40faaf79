/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq record`: the program to run, whether it can be measured, and the collector's library (record.h). */
#include "repl/record/record.h"

#include "common/file.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/str.h"
#include "format/room.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static bool is_program(const char *path, int *status)
{
    struct stat st;

    if (stat(path, &st) != 0 || (S_ISREG(st.st_mode) && access(path, X_OK) == 0))
        return stat(path, &st) == 0;
    *status = 126;
    return false;
}

char *record_find_command(const char *name, int *status)
{
    const char *list = getenv("PATH");

    *status = 127;
    if (strchr(name, '/'))
        return is_program(name, status) ? strdup(name) : NULL;
    for (const char *at = list ? list : "/bin:/usr/bin"; *name; at++) {
        size_t length = strcspn(at, ":");
        AUTO_STR struct str path = {0};

        str_addn(&path, at, length);
        str_add(&path, length ? "/" : "");
        str_add(&path, name);
        if (is_program(str_cstr(&path), status))
            return str_steal(&path);
        at += length;
        if (!*at)
            break;
    }
    return NULL;
}

/* `NAME=VALUE`, as it stands before a command in the shell. */
static bool is_assignment(const char *word)
{
    size_t n = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

    return n && word[n] == '=';
}

static void explain_missing(const char *name, const char *database, struct str *why)
{
    AUTO_FREE char *here = file_join(".", name), *first = xstrndup(name, strcspn(name, " \t"));
    const char *suffix = strrchr(name, '.');
    int status = 0;
    AUTO_FREE char *program = strcmp(first, name) ? record_find_command(first, &status) : NULL;

    str_add(why, strchr(name, '/') ? "there is no such file" : "there is no such command");
    if (program)
        str_add(why, "; quotes make one word of a program and its arguments: leave them out, or run it with sh -c");
    else if (!strcmp(name, "help"))
        str_add(why, "; `hq help record` explains the command");
    else if (is_assignment(name))
        str_add(why, "; variables stand before hq, or behind `env`");
    else if (!database && suffix && !strcmp(suffix, ".hq"))
        str_addf(why, "; the database is named by -o %s", name);
    else if (database && is_program(database, &status))
        str_addf(why, "; -o names the database, and %s is a program", database);
    else if (!strchr(name, '/') && is_program(here, &status))
        str_addf(why, "; did you mean %s?", here);
    else if (!strchr(name, '/'))
        str_add(why, "; what only the shell knows is run with sh -c '...'");
}

static bool begins_like_program(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    char start[SELFMAG] = "";
    ssize_t bytes = fd < 0 ? 0 : read(fd, start, sizeof start);

    if (fd >= 0)
        close(fd);
    return (bytes == SELFMAG && !memcmp(start, ELFMAG, SELFMAG)) || (bytes > 1 && start[0] == '#' && start[1] == '!');
}

void record_explain_command(const char *name, int status, const char *database, struct str *why)
{
    if (!*name)
        str_add(why, "the name of the program is empty");
    else if (status == 127)
        explain_missing(name, database, why);
    else if (file_is_dir(name))
        str_add(why, "a directory, not a program");
    else
        str_addf(why, "not an executable file%s", begins_like_program(name) ? "; chmod +x makes it one" : "");
}

/* The machine whose programs the collector of this build can be loaded into, and the name of its loader. */
#ifdef __aarch64__
#define MACHINE      EM_AARCH64
#define MACHINE_NAME "aarch64"
#define LOADER       "ld-linux-aarch64.so.1"
#else
#define MACHINE      EM_X86_64
#define MACHINE_NAME "x86-64"
#define LOADER       "ld-linux-x86-64.so.2"
#endif

enum loader { OURS, FOREIGN, NONE };

static enum loader find_loader(int fd, const Elf64_Ehdr *header, char name[static 256])
{
    for (int i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        off_t at = (off_t)(header->e_phoff + (uint64_t)i * header->e_phentsize);

        if (pread(fd, &segment, sizeof segment, at) != sizeof segment)
            return OURS;
        if (segment.p_type != PT_INTERP)
            continue;
        ssize_t bytes = pread(fd, name, segment.p_filesz < 256 ? segment.p_filesz : 255, (off_t)segment.p_offset);
        name[bytes < 0 ? 0 : bytes] = 0;
        return bytes <= 0 || !strcmp(file_basename(name), LOADER) ? OURS : FOREIGN;
    }
    return NONE;
}

/* False: its loader does not pass over the collector in silence. */
static bool examine_elf(const char *path, int fd, const Elf64_Ehdr *header, struct str *obstacle,
                        enum record_obstacle *kind)
{
    char name[256];

    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != MACHINE) {
        *kind = RECORD_OTHER_MACHINE;
        str_addf(obstacle,
                 "%s is not a program for " MACHINE_NAME ", so the collector measures neither it nor what it starts",
                 path);
        return false;
    }
    enum loader loader = str_begins(file_basename(path), "ld-linux") ? OURS : find_loader(fd, header, name);
    *kind = loader == OURS ? RECORD_NO_OBSTACLE : RECORD_OTHER_LOADER;
    if (loader == FOREIGN)
        str_addf(
            obstacle,
            "%s is for another C library (its loader is %s), so the collector measures neither it nor what it starts",
            path, name);
    if (loader == NONE)
        str_addf(obstacle,
                 "%s is statically linked, so the collector cannot be loaded into it and measures only programs that "
                 "it starts",
                 path);
    return loader != FOREIGN;
}

static void examine_privileges(const char *path, const struct stat *st, struct str *obstacle)
{
    const char *why = NULL;

    if (st->st_mode & S_ISUID && st->st_uid != getuid())
        why = "set-user-ID";
    else if (st->st_mode & S_ISGID && st->st_gid != getgid())
        why = "set-group-ID";
    else if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        why = "privileged by file capabilities";
    if (why)
        str_addf(obstacle, "%s is %s, so the system does not load the collector into it", path, why);
}

/* Of a script, behind its #!; up to the argument. NULL: it is none. */
static char *interpreter_of(char *text, ssize_t bytes)
{
    if (bytes <= 2 || text[0] != '#' || text[1] != '!')
        return NULL;
    text += 2 + strspn(text + 2, " \t");
    text[strcspn(text, " \t\n")] = 0;
    return text;
}

struct hq_error *record_cannot_start(const char *path)
{
    union {
        char text[256];
        Elf64_Ehdr elf;
    } start = {.text = ""};
    int error = errno, fd = error == ENOENT ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    ssize_t bytes = fd < 0 ? 0 : read(fd, start.text, sizeof start.text - 1);
    char loader[256] = "", *runs = interpreter_of(start.text, bytes);

    if (!runs && bytes >= (ssize_t)sizeof start.elf && !memcmp(start.text, ELFMAG, SELFMAG) &&
        start.elf.e_ident[EI_CLASS] == ELFCLASS64 && find_loader(fd, &start.elf, loader) != NONE)
        runs = loader;
    if (fd >= 0)
        close(fd);
    errno = error;
    if (!runs || !*runs)
        return hq_error_errno(HQ_DATA, "cannot start %s", path);
    if (runs[strlen(runs) - 1] == '\r') {
        runs[strlen(runs) - 1] = 0;
        return hq_error_new(HQ_DATA, "cannot start %s: its lines end with CR LF, so that %s is not found", path, runs);
    }
    return hq_error_new(HQ_DATA, "cannot start %s: what runs it, %s, is not there", path, runs);
}

/* A script is examined through its interpreter. */
static bool examine(const char *path, int depth, struct str *obstacle, enum record_obstacle *kind)
{
    union {
        char text[256];
        Elf64_Ehdr elf;
    } start = {.text = ""};
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t bytes = fd < 0 ? 0 : read(fd, start.text, sizeof start.text - 1);
    bool silent = true;
    struct stat st;

    char *interpreter = depth < 4 ? interpreter_of(start.text, bytes) : NULL;

    if (interpreter) {
        silent = examine(interpreter, depth + 1, obstacle, kind);
    } else if (bytes >= (ssize_t)sizeof start.elf && memcmp(start.text, ELFMAG, SELFMAG) == 0) {
        if (fstat(fd, &st) == 0)
            examine_privileges(path, &st, obstacle);
        if (obstacle->len)
            *kind = RECORD_PRIVILEGED;
        else
            silent = examine_elf(path, fd, &start.elf, obstacle, kind);
    }
    if (fd >= 0)
        close(fd);
    return silent;
}

/* Limits that cannot be asked for are none. */
static bool is_short_of_memory(void)
{
    struct rlimit data = {.rlim_cur = RLIM_INFINITY}, all = data, stack = data;

    getrlimit(RLIMIT_DATA, &data);
    getrlimit(RLIMIT_AS, &all);
    getrlimit(RLIMIT_STACK, &stack);
    return hqm_is_short_of_memory(data, all, stack);
}

bool record_find_obstacle(const char *path, struct str *obstacle, enum record_obstacle *kind)
{
    bool audited = hqm_is_audited(getenv("LD_AUDIT"), getenv("GLIBC_TUNABLES"));

    *kind = RECORD_NO_OBSTACLE;
    if (!audited && !is_short_of_memory())
        return examine(path, 0, obstacle, kind);
    *kind = RECORD_OTHER_LOADER;
    if (!audited) {
        str_addf(
            obstacle,
            "the limit of memory (ulimit -d, -v, -s) has no room for the collector, which takes %d MiB, and %d KiB of "
            "stack, so it measures neither %s nor what it starts",
            HQM_LEAST_DATA >> 20, HQM_LEAST_STACK >> 10, path);
        return false;
    }
    str_addf(
        obstacle,
        "LD_AUDIT leaves the collector no room for thread-local storage, so it measures neither %s nor what it starts "
        "(GLIBC_TUNABLES=glibc.rtld.optional_static_tls=8192 makes room)",
        path);
    return false;
}

#define NO_SHORT_WAY \
    "%s: LD_PRELOAD cannot name a path with a space or a colon; install hq elsewhere, or set XDG_CACHE_HOME to a " \
    "directory without them that can be written to"

/* LD_PRELOAD separates its entries by spaces and colons: a library below such a directory gets a second way to it, from
 * the user's cache directory. */
static struct hq_error *find_short_way(char **path)
{
    AUTO_FREE char *directory = file_dirname(*path), *cache = file_cache_dir(),
                   *above = cache ? file_join(cache, "hq") : NULL;
    AUTO_STR struct str way = {0}, fresh = {0};

    if (!above || strpbrk(above, " :"))
        return hq_error_new(HQ_DATA, NO_SHORT_WAY, *path);
    str_addf(&way, "%s/collector-%016llx", above, (unsigned long long)hash_bytes(directory, strlen(directory), 0));
    str_addf(&fresh, "%s.%ld", str_cstr(&way), (long)getpid());
    struct hq_error *err = file_make_dirs(above);
    if (!err) {
        unlink(str_cstr(&fresh));
        if (symlink(directory, str_cstr(&fresh)) != 0 || rename(str_cstr(&fresh), str_cstr(&way)) != 0)
            err = hq_error_errno(HQ_DATA, "%s: cannot be made", str_cstr(&way));
    }
    if (err)
        return hq_error_prefix(err, NO_SHORT_WAY, *path);
    free(*path);
    *path = file_join(str_cstr(&way), "libhqpreload.so");
    return NULL;
}

struct hq_error *record_find_library(char **path)
{
    static const char *const places[] = {"libhqpreload.so", "../libhqpreload.so", "../lib/hq/libhqpreload.so"};
    AUTO_FREE char *self = file_program();

    if (!self)
        return hq_error_errno(HQ_DATA,
                              "hq cannot find itself, and so not its collector: its file was replaced or removed "
                              "while it ran, or /proc is not mounted");
    char *directory = file_dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *place = file_join(directory, places[i]);
        *path = realpath(place, NULL);
        free(place);
        if (*path)
            break;
    }
    struct hq_error *error = NULL;
    if (!*path)
        error = hq_error_new(HQ_DATA,
                             "libhqpreload.so is neither in %s nor in ../lib/hq from there; build or install hq again",
                             directory);
    else if (strpbrk(*path, " :"))
        error = find_short_way(path);
    free(directory);
    return error;
}
