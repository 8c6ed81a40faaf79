/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/walk/module_file.h"

#include "format/measurement.h"
#include "preload/heap.h"
#include "preload/walk/modules.h"
#include "preload/raw.h"

#include <elf.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

static atomic_flag path_busy = ATOMIC_FLAG_INIT;

static void read_build_id(struct module *module, const char *notes, size_t bytes)
{
    for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= bytes;) {
        const Elf64_Nhdr *note = (const Elf64_Nhdr *)(notes + at);
        size_t name = (note->n_namesz + 3) & ~3u, content = (note->n_descsz + 3) & ~3u;

        at += sizeof *note + name + content;
        if (at > bytes)
            return;
        if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4 || memcmp(note + 1, "GNU", 4) != 0)
            continue;
        module->build_id_len = (uint8_t)(note->n_descsz < sizeof module->build_id ? note->n_descsz
                                                                                  : sizeof module->build_id);
        memcpy(module->build_id, (const char *)(note + 1) + name, module->build_id_len);
        return;
    }
}

void module_read_headers(struct module *module)
{
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)module->start;
    const Elf64_Phdr *header = (const Elf64_Phdr *)(module->start + elf->e_phoff);
    uint64_t bytes = module->end - module->start;
    int texts = 0;

    if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_phoff > bytes ||
        elf->e_phnum * sizeof *header > bytes - elf->e_phoff)
        return;
    for (int i = 0; i < elf->e_phnum; i++, header++) {
        uint64_t start = module->base + header->p_vaddr;
        if (start < module->start || start > module->end || header->p_memsz > module->end - start)
            continue;
        if (header->p_type == PT_LOAD && header->p_flags & PF_X && texts < MODULE_TEXTS) {
            module->text[texts].start = start;
            module->text[texts].writable = header->p_flags & PF_W;
            module->text[texts++].end = start + header->p_memsz;
        } else if (header->p_type == PT_NOTE && !module->build_id_len) {
            read_build_id(module, (const char *)start, header->p_filesz);
        }
    }
}

bool module_of_image(uint64_t image, uint64_t base, struct module *out)
{
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)image;
    const Elf64_Phdr *header = (const Elf64_Phdr *)(image + elf->e_phoff);

    *out = (struct module){.base = base, .start = image};
    if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_phoff + elf->e_phnum * sizeof *header > 4096)
        return false;
    for (int i = 0; i < elf->e_phnum; i++)
        if (header[i].p_type == PT_LOAD && base + header[i].p_vaddr + header[i].p_memsz > out->end)
            out->end = base + header[i].p_vaddr + header[i].p_memsz;
    module_read_headers(out);
    return out->end > out->start;
}

/* Before glibc 2.34 its file is ld-2.31.so, to which ld-linux-x86-64.so.2 is a link. */
static bool is_loader(const char *name, long length)
{
    return (length >= 9 && memcmp(name, "ld-linux-", 9) == 0) || (length >= 5 && memcmp(name, "ld-2.", 5) == 0);
}

/* program_invocation_name, by the name that no program has. */
extern char *__progname_full;

long module_program_path(char *path, size_t bytes)
{
    long length = raw_readlink("/proc/self/exe", path, bytes);
    const char *name = __progname_full;
    long at = length > 0 ? length : 0;

    while (at > 0 && path[at - 1] != '/')
        at--;
    if (length < 0 || !is_loader(path + at, length - at) || !strstr(name, "/"))
        return length < 0 ? 0 : length;
    length = 0;
    if (name[0] != '/') {
        length = raw_syscall(SYS_getcwd, (long)path, (long)bytes, 0, 0, 0, 0);
        if (length <= 0)
            return 0;
        path[length - 1] = '/';
    }
    if (strlen(name) > bytes - (size_t)length)
        return 0;
    memcpy(path + length, name, strlen(name));
    return length + (long)strlen(name);
}

const char *module_path(const struct module *module, const char *name)
{
    static char path[8192];
    char *copy = NULL;
    long bytes = 0;

    if (module->flags & HQM_MODULE_VDSO)
        return "[vdso]";
    if (name[0] == '/')
        return heap_copy_string(name);
    if (atomic_flag_test_and_set(&path_busy))
        return heap_copy_string(name);
    if (module->flags & HQM_MODULE_MAIN) {
        bytes = module_program_path(path, sizeof path - 1);
        if (bytes > 0)
            path[bytes] = 0;
        else /* no /proc: as it was started */
            name = (const char *)__getauxval(AT_EXECFN);
    }
    if (bytes <= 0 && name[0] != '/' && strlen(name) < 4000) {
        bytes = raw_syscall(SYS_getcwd, (long)path, 4096, 0, 0, 0, 0);
        if (bytes > 0) {
            path[bytes - 1] = '/';
            strcpy(path + bytes, name);
        }
    }
    copy = heap_copy_string(bytes > 0 ? path : name);
    atomic_flag_clear(&path_busy);
    return copy;
}

void module_path_forget(void)
{
    atomic_flag_clear(&path_busy);
}

void module_read_status(struct module *module)
{
    struct stat status;

    if (module->path[0] != '/' || raw_stat(module->path, &status) < 0)
        return;
    module->file_size = (uint64_t)status.st_size;
    module->file_mtime_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec;
}
