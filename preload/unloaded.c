/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/unloaded.h"

#include "format/measurement.h"
#include "format/room.h"
#include "preload/confine.h"
#include "preload/options.h"
#include "preload/raw.h"
#include "preload/text.h"

#include <elf.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = PATH_MAX + 64, HEADERS = 32 };

/* Not on the stack, which may be a small one. */
struct texts {
    char found[LINE], file[2 * PATH_MAX], line[LINE];
};

enum { WORDS = 16384 }; /* no more of the environment is copied: it goes on the stack */
static const char PRELOAD[] = "LD_PRELOAD=", AUDIT[] = "LD_AUDIT=", TUNABLES[] = "GLIBC_TUNABLES=";

/* The first value of a variable (its name and =), NULL if there is none. */
static const char *value_of(char *const environment[], const char *name)
{
    size_t length = strlen(name);

    for (; environment && *environment; environment++)
        if (!strncmp(*environment, name, length))
            return *environment + length;
    return NULL;
}

/* Limits that cannot be asked for are none. */
static bool is_short_of_memory(void)
{
    struct rlimit data = {.rlim_cur = RLIM_INFINITY}, all = data, stack = data;

    raw_getrlimit(RLIMIT_DATA, &data);
    raw_getrlimit(RLIMIT_AS, &all);
    raw_getrlimit(RLIMIT_STACK, &stack);
    return hqm_is_short_of_memory(data, all, stack);
}

/* The next library of the list: returns its length, 0 at the end, and moves `at` to its start. */
static size_t next_library(const char **at)
{
    *at += strspn(*at, ": ");
    return strcspn(*at, ": ");
}

static bool is_library(const char *path, size_t length, const char *name)
{
    size_t bytes = strlen(name);

    return length >= bytes && !strncmp(path + length - bytes, name, bytes);
}

/* Is the collector in the list; and can its file be seen from here? */
static bool names_the_collector(struct texts *texts, const char *list, bool *visible)
{
    struct stat status;
    size_t length;

    *visible = true;
    for (; list && (length = next_library(&list)); list += length)
        if (is_library(list, length, "/libhqpreload.so") && length < LINE) {
            memcpy(texts->found, list, length);
            texts->found[length] = 0;
            *visible = raw_stat(texts->found, &status) == 0;
            return true;
        }
    return false;
}

enum loader { OURS, FOREIGN, NONE };

static enum loader find_loader(int fd, const Elf64_Ehdr *elf)
{
    Elf64_Phdr header;
    char name[128];

    for (int i = 0; i < elf->e_phnum && i < HEADERS; i++) {
        uint64_t at = elf->e_phoff + (uint64_t)i * sizeof header;
        if (raw_syscall(SYS_pread64, fd, (long)&header, sizeof header, (long)at, 0, 0) != sizeof header)
            return OURS;
        if (header.p_type != PT_INTERP)
            continue;
        if (header.p_filesz < 2 || header.p_filesz > sizeof name ||
            raw_syscall(SYS_pread64, fd, (long)name, (long)header.p_filesz, (long)header.p_offset, 0, 0) !=
                (long)header.p_filesz)
            return OURS;
        name[header.p_filesz - 1] = 0;
        return is_library(name, strlen(name), "/" ARCH_LOADER) ? OURS : FOREIGN;
    }
    return NONE;
}

/*
 * Returns what keeps the loader from loading the collector into a program; NULL: nothing that is known. Scripts are
 * started through a program of their own. `refused`: the loader would not stay silent.
 */
static const char *obstacle(int fd, bool *refused)
{
    Elf64_Ehdr elf;
    struct stat status;

    *refused = false;
    if (raw_read(fd, &elf, sizeof elf) != sizeof elf || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0)
        return NULL;
    if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_machine != ARCH_MACHINE) {
        *refused = true;
        return "not a program for " ARCH_NAME;
    }
    enum loader loader = find_loader(fd, &elf);
    if (loader == FOREIGN) {
        *refused = true;
        return "for another C library";
    }
    if (raw_fstat(fd, &status) == 0 && status.st_mode & S_ISUID &&
        status.st_uid != (uint32_t)raw_syscall(SYS_getuid, 0, 0, 0, 0, 0, 0))
        return "set-user-ID";
    return loader == NONE ? "statically linked" : NULL;
}

/* Opens what execvp would find. */
static int open_in_path(const char *name, char found[LINE])
{
    const char *list = getenv("PATH"), *end = found + LINE;
    int fd = -ENOENT;

    for (const char *at = list ? list : "/bin:/usr/bin"; fd < 0; at++) {
        size_t length = strcspn(at, ":");
        char *to = found;

        if (length < PATH_MAX) {
            memcpy(found, at, length);
            to = append(found + length, end, length ? "/" : "");
            append(to, end, name);
            fd = raw_open(found, O_RDONLY | O_CLOEXEC, 0);
        }
        at += length;
        if (!*at)
            break;
    }
    return fd;
}

static void note(struct texts *texts, const char *path, const char *why)
{
    const char *end = texts->file + sizeof texts->file;
    char *to = append(append(texts->file, end, options.home[0] ? options.home : options.directory), end, "/");

    append(append(to, end, options.host), end, HQM_UNMEASURED);
    end = texts->line + LINE;
    to = append(append(append(append(texts->line, end, path), end, "\t"), end, why), end, "\n");
    int fd = raw_open(texts->file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    write_quietly(fd, texts->line, (size_t)(to - texts->line));
    raw_close(fd);
}

/* True if the collector must be kept out of the program's environment. */
static bool examine(struct texts *texts, const char *path, bool search, char *const environment[])
{
    const char *list = value_of(environment, PRELOAD);
    bool visible, refused = false, named = names_the_collector(texts, list, &visible);
    bool direct = !search || strchr(path, '/');
    int fd = direct ? raw_open(path, O_RDONLY | O_CLOEXEC, 0) : open_in_path(path, texts->found);

    if (fd < 0)
        return named && !visible;
    const char *why = obstacle(fd, &refused);
    raw_close(fd);
    if (!named)
        why = "started without LD_PRELOAD in its environment";
    else if (!visible && !why)
        why = "started where the collector's library is not to be seen";
    else if (!why && hqm_is_audited(value_of(environment, AUDIT), value_of(environment, TUNABLES)))
        why = "started with LD_AUDIT", refused = true;
    else if (!why && is_short_of_memory())
        why = "started with a limit of memory (ulimit -d, -v, -s) that has no room for the collector", refused = true;
    if (why && options.active)
        note(texts, direct ? path : texts->found, why);
    return named && (refused || !visible);
}

/* A process that has lowered its limit gets no more memory: there is room for one at a time. */
static bool examine_with_room(const char *path, bool search, char *const environment[])
{
    static struct texts spare;
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    struct texts *texts = raw_memory(sizeof *texts);
    bool kept_out;

    if (texts) {
        kept_out = examine(texts, path, search, environment);
        raw_munmap(texts, sizeof *texts);
        return kept_out;
    }
    if (atomic_flag_test_and_set(&taken))
        return is_short_of_memory();
    kept_out = examine(&spare, path, search, environment);
    atomic_flag_clear(&taken);
    return kept_out;
}

/* Whatever cannot be read is the kernel's to refuse. What lies in one page is asked for once. */
static bool is_given(uint64_t *page, const void *address)
{
    enum { PAGE = 4096 };
    uint64_t before = *page;

    *page = (uint64_t)address & ~(uint64_t)(PAGE - 1);
    return *page == before || raw_given((const void *)*page);
}

static bool are_given(const char *path, char *const environment[])
{
    uint64_t lists = 1, texts = 1;

    if (path && !is_given(&texts, path))
        return false;
    for (; environment; environment++)
        if (!is_given(&lists, environment) || (*environment && !is_given(&texts, *environment)))
            return false;
        else if (!*environment)
            break;
    return true;
}

struct unloaded unloaded_note(const char *path, bool search, char *const environment[])
{
    bool ends = confined & CONFINE_PROGRAMS || (confined_child && confined_child == raw_getpid());

    if (!ends && !are_given(path, environment))
        return (struct unloaded){0, 0};
    bool named = value_of(environment, PRELOAD);
    bool kept_out = ends ? named : path && examine_with_room(path, search, environment) && named;
    size_t words = 0;

    while (environment && environment[words])
        words++;
    return kept_out && words < WORDS
               ? (struct unloaded){words + 1, sizeof PRELOAD + strlen(value_of(environment, PRELOAD))}
               : (struct unloaded){0, 0};
}

/* The list without what is the collector's. False if nothing is left. */
static bool strip(const char *list, char *text)
{
    char *to = text + sizeof PRELOAD - 1;
    size_t length;

    memcpy(text, PRELOAD, sizeof PRELOAD);
    for (; (length = next_library(&list)); list += length) {
        if (is_library(list, length, "/libhqpreload.so") || is_library(list, length, "/libhqexact.so") ||
            is_library(list, length, "/libhqmpi.so") || is_library(list, length, "/libhqgpu.so"))
            continue;
        if (to[-1] != '=')
            *to++ = ':';
        memcpy(to, list, length);
        to += length;
        *to = 0;
    }
    return to[-1] != '=';
}

char *const *unloaded_without(char *const environment[], char *words[], char *text)
{
    size_t used = 0;
    bool done = false;

    for (size_t i = 0; environment[i]; i++)
        if (done || strncmp(environment[i], PRELOAD, sizeof PRELOAD - 1)) {
            words[used++] = environment[i];
        } else {
            done = true;
            if (strip(environment[i] + sizeof PRELOAD - 1, text))
                words[used++] = text;
        }
    words[used] = NULL;
    return words;
}

void unloaded_leave(void)
{
    for (char **word = __environ; word && *word; word++) {
        size_t bytes = strlen(*word) + 1;
        if (strncmp(*word, PRELOAD, sizeof PRELOAD - 1))
            continue;
        char *copy = raw_memory(bytes);
        if (!copy)
            continue;
        strip(*word + sizeof PRELOAD - 1, copy);
        memcpy(*word, copy, strlen(copy) + 1); /* which is no longer */
        raw_munmap(copy, bytes);
    }
}
