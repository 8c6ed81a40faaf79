/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/unloaded.h"

#include "format/measurement.h"
#include "preload/options.h"
#include "preload/raw.h"
#include "preload/text.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = PATH_MAX + 64, HEADERS = 32 };

/* Not on the stack, which may be a small one. */
struct texts { char found[LINE], file[2 * PATH_MAX], line[LINE]; };

static bool names_the_collector(char *const environment[])
{
    for (; environment && *environment; environment++)
        if (strncmp(*environment, "LD_PRELOAD=", 11) == 0)
            return strstr(*environment, "libhqpreload.so") != NULL;
    return false;
}

static bool has_interpreter(int fd, const Elf64_Ehdr *elf)
{
    Elf64_Phdr header;

    for (int i = 0; i < elf->e_phnum && i < HEADERS; i++) {
        uint64_t at = elf->e_phoff + (uint64_t)i * sizeof header;
        if (raw_syscall(SYS_pread64, fd, (long)&header, sizeof header, (long)at, 0, 0) != sizeof header || header.p_type == PT_INTERP)
            return true;
    }
    return false;
}

/* What keeps the loader from it; NULL: nothing that is known. Scripts are started through a program of their own. */
static const char *obstacle(int fd)
{
    Elf64_Ehdr elf;
    struct stat status;

    if (raw_read(fd, &elf, sizeof elf) != sizeof elf || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0)
        return NULL;
    if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_machine != EM_X86_64)
        return "not an x86-64 program";
    if (raw_syscall(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) == 0 && status.st_mode & S_ISUID &&
        status.st_uid != (uint32_t)raw_syscall(SYS_getuid, 0, 0, 0, 0, 0, 0))
        return "set-user-ID";
    return has_interpreter(fd, &elf) ? NULL : "statically linked";
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
    raw_write(fd, texts->line, (size_t)(to - texts->line));
    raw_close(fd);
}

static void examine(struct texts *texts, const char *path, bool search, bool named)
{
    bool direct = !search || strchr(path, '/');
    int fd = direct ? raw_open(path, O_RDONLY | O_CLOEXEC, 0) : open_in_path(path, texts->found);

    if (fd < 0)
        return;
    const char *why = named ? obstacle(fd) : "started without LD_PRELOAD in its environment";
    raw_close(fd);
    if (why)
        note(texts, direct ? path : texts->found, why);
}

void unloaded_note(const char *path, bool search, char *const environment[])
{
    struct texts *texts = options.active && path ? raw_memory(sizeof *texts) : NULL;

    if (!texts)
        return;
    examine(texts, path, search, names_the_collector(environment));
    raw_munmap(texts, sizeof *texts);
}
