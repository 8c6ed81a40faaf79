/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/modules.h"

#include "preload/file.h"
#include "preload/heap.h"
#include "preload/hot.h"
#include "preload/raw.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

static _Atomic(struct module *) table[MODULES_NOTED];
uint64_t modules_bases[MODULES_NOTED] __attribute__((aligned(64)));
static _Atomic uint32_t modules; /* numbers given out; a slot may still be empty */

/*
 * From the first segment of the program to its last. The kernel leaves gaps between the segments where the linker did
 * (a page before the data is enough), and then _dl_find_object knows each segment by itself. What the loader maps it
 * fills up.
 */
static uint64_t program_start, program_end;

/* The program's code needs no search, for it is never unloaded. */
static struct {
    _Atomic bool known;
    uint64_t start, end;
    struct code code;
} program;

const struct module *modules_get(uint32_t number)
{
    return atomic_load_explicit(&table[number - 1], memory_order_acquire);
}

bool modules_is_text(uint32_t number, uint64_t address)
{
    const struct module *module = modules_get(number);

    for (int i = 0; i < MODULE_TEXTS; i++)
        if (address >= module->text[i].start && address < module->text[i].end)
            return true;
    return false;
}

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

/* The program headers are in memory when the first segment holds the start of the file, as linkers lay it out. */
static void read_program_headers(struct module *module)
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
            module->text[texts++].end = start + header->p_memsz;
        } else if (header->p_type == PT_NOTE && !module->build_id_len) {
            read_build_id(module, (const char *)start, header->p_filesz);
        }
    }
}

long modules_program(char *path, size_t bytes)
{
    long length = raw_syscall(SYS_readlink, (long)"/proc/self/exe", (long)path, (long)bytes, 0, 0, 0);
    const char *name = program_invocation_name;
    long at = length > 0 ? length : 0;

    while (at > 0 && path[at - 1] != '/')
        at--;
    if (length < 0 || length - at < 9 || memcmp(path + at, "ld-linux-", 9) != 0 || !strstr(name, "/"))
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

/* The loader knows the program by an empty name, and files opened by a relative path by that. */
static const char *absolute_path(const struct module *module, const char *name)
{
    static char path[8192];
    static atomic_flag busy = ATOMIC_FLAG_INIT;
    char *copy = NULL;
    long bytes = 0;

    if (module->flags & HQM_MODULE_VDSO)
        return "[vdso]";
    if (name[0] == '/')
        return heap_copy_string(name);
    if (atomic_flag_test_and_set(&busy))
        return heap_copy_string(name);
    if (module->flags & HQM_MODULE_MAIN) {
        bytes = modules_program(path, sizeof path - 1);
        if (bytes > 0)
            path[bytes] = 0;
        else /* no /proc: as it was started */
            name = (const char *)getauxval(AT_EXECFN);
    }
    if (bytes <= 0 && name[0] != '/' && strlen(name) < 4000) {
        bytes = raw_syscall(SYS_getcwd, (long)path, 4096, 0, 0, 0, 0);
        if (bytes > 0) {
            path[bytes - 1] = '/';
            strcpy(path + bytes, name);
        }
    }
    copy = heap_copy_string(bytes > 0 ? path : name);
    atomic_flag_clear(&busy);
    return copy;
}

static void read_file_status(struct module *module)
{
    struct stat status;

    if (module->path[0] != '/' || raw_stat(module->path, &status) < 0)
        return;
    module->file_size = (uint64_t)status.st_size;
    module->file_mtime_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec;
}

static void fill_record(struct hqm_module *record, struct module *module)
{
    record->flags = module->flags;
    record->base = module->base;
    record->start = module->start;
    record->end = module->end;
    record->load_us = module->load_us;
    record->unload_us = module->unload_us;
    record->build_id_len = module->build_id_len;
    memcpy(record->build_id, module->build_id, sizeof record->build_id);
    record->file_size = module->file_size;
    record->file_mtime_ns = module->file_mtime_ns;
    record->path = file_string(module->path);
    module->record = record;
}

/* The number of the record in the file is the number in the table, so that nodes can name it. */
static uint32_t add(struct module *module)
{
    struct claim claim;
    struct hqm_module *record = file_header() ? file_claim(HQM_MODULES, 1, &claim) : NULL;
    uint32_t index = record ? claim_number(&claim) : MODULES_NOTED, count = atomic_load(&modules);

    if (index >= MODULES_NOTED) {
        file_lost(HQM_LOSS_MODULES, 1);
        return 0;
    }
    fill_record(record, module);
    file_publish(&claim);
    __atomic_store_n(&modules_bases[index], module->base | (module->flags & HQM_MODULE_COLLECTOR ? MODULES_OWN : 0),
                     __ATOMIC_RELAXED);
    atomic_store_explicit(&table[index], module, memory_order_release);
    while (count <= index && !atomic_compare_exchange_weak(&modules, &count, index + 1))
        ;
    return index + 1;
}

void modules_describe(void)
{
    uint32_t count = atomic_load(&modules);

    for (uint32_t i = 0; i < count; i++) {
        struct module *module = atomic_load(&table[i]);
        struct claim claim;
        struct hqm_module *record = file_claim(HQM_MODULES, 1, &claim);

        if (!record)
            return;
        if (module) {
            module->load_us = 0;
            fill_record(record, module);
        }
        file_publish(&claim);
    }
}

static uint32_t flags_of(const struct link_map *map, uint64_t start)
{
    uint64_t own = (uint64_t)&modules_start;

    if (map->l_name[0] == 0)
        return HQM_MODULE_MAIN;
    if (strstr(map->l_name, "/libhqexact.so"))
        return HQM_MODULE_COLLECTOR;
    if (strstr(map->l_name, "linux-vdso") || strstr(map->l_name, "linux-gate"))
        return HQM_MODULE_VDSO;
    struct dl_find_object found;
    return _dl_find_object((void *)own, &found) == 0 && (uint64_t)found.dlfo_map_start == start ? HQM_MODULE_COLLECTOR
                                                                                                : 0;
}

static uint32_t note(const struct dl_find_object *found)
{
    const struct link_map *map = found->dlfo_link_map;
    struct module *module = heap_take(sizeof *module);

    if (!module)
        return 0;
    module->link_map = map;
    module->base = map->l_addr;
    module->start = (uint64_t)found->dlfo_map_start;
    module->end = (uint64_t)found->dlfo_map_end;
    module->load_us = file_now_us();
    module->flags = flags_of(map, module->start);
    if (module->flags & HQM_MODULE_MAIN && program_start <= module->start && module->end <= program_end) {
        module->start = program_start;
        module->end = program_end;
    }
    module->path = absolute_path(module, map->l_name);
    if (!module->path)
        return 0;
    read_program_headers(module);
    read_file_status(module);
    return add(module);
}

/* The same file at the same place: a path alone would not tell a file that was replaced meanwhile. */
static bool is_same(const struct module *module, const struct dl_find_object *found)
{
    struct module fresh = {.start = (uint64_t)found->dlfo_map_start,
                           .end = (uint64_t)found->dlfo_map_end,
                           .base = found->dlfo_link_map->l_addr};
    const char *name = found->dlfo_link_map->l_name;
    size_t whole = strlen(module->path), part = strlen(name);

    if (module->flags & (HQM_MODULE_MAIN | HQM_MODULE_VDSO))
        return true;
    if (part > whole || strcmp(module->path + whole - part, name) != 0)
        return false;
    read_program_headers(&fresh);
    return fresh.build_id_len == module->build_id_len &&
           memcmp(fresh.build_id, module->build_id, sizeof fresh.build_id) == 0;
}

static bool is_at(const struct module *module, const struct dl_find_object *found)
{
    if (!module)
        return false;
    if (module->flags & HQM_MODULE_MAIN)
        return module->link_map == found->dlfo_link_map;
    return module->start == (uint64_t)found->dlfo_map_start && module->end == (uint64_t)found->dlfo_map_end;
}

static COLD uint32_t search(const struct dl_find_object *found)
{
    for (uint32_t i = atomic_load(&modules); i-- > 0;) {
        struct module *module = atomic_load_explicit(&table[i], memory_order_acquire);

        if (!is_at(module, found))
            continue;
        if (!__atomic_load_n(&module->unload_us, __ATOMIC_RELAXED))
            return i + 1;
        if (is_same(module, found)) {
            __atomic_store_n(&module->unload_us, 0, __ATOMIC_RELAXED);
            if (module->record)
                ((struct hqm_module *)module->record)->unload_us = 0;
            return i + 1;
        }
    }
    return note(found);
}

/* Mostly it is the module of the search before: the others' records need not be touched. */
LEARN static uint32_t number_of(const struct dl_find_object *found)
{
    static _Atomic uint32_t latest;
    uint32_t number = atomic_load_explicit(&latest, memory_order_relaxed);
    const struct module *module = number ? modules_get(number) : NULL;

    if (!is_at(module, found) || __atomic_load_n(&module->unload_us, __ATOMIC_RELAXED)) {
        number = search(found);
        atomic_store_explicit(&latest, number, memory_order_relaxed);
    }
    return number;
}

static COLD void note_program(const struct module *module, const struct code *code)
{
    static atomic_flag noted = ATOMIC_FLAG_INIT;

    if (atomic_flag_test_and_set(&noted))
        return;
    program.start = module->text[0].start;
    program.end = module->text[0].end;
    program.code = *code;
    atomic_store_explicit(&program.known, true, memory_order_release);
}

LEARN static __attribute__((noinline)) bool find_in_all(uint64_t address, struct code *code)
{
    struct dl_find_object found;
    struct module *module;

    if (_dl_find_object((void *)address, &found) != 0)
        return false;
    code->eh_frame_hdr = found.dlfo_eh_frame;
    code->module = number_of(&found);
    if (code->module == 0)
        return false;
    module = atomic_load_explicit(&table[code->module - 1], memory_order_acquire);
    code->index = &module->index;
    code->start = module->start;
    code->end = module->end;
    if (module->flags & HQM_MODULE_MAIN)
        note_program(module, code);
    return true;
}

LEARN bool modules_find(uint64_t address, struct code *code)
{
    if (!atomic_load_explicit(&program.known, memory_order_acquire) || address < program.start ||
        address >= program.end)
        return find_in_all(address, code);
    *code = program.code;
    return true;
}

static void measure_program(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *header = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + (header->p_vaddr & ~4095ull),
                 end = info->dlpi_addr + header->p_vaddr + header->p_memsz;

        if (header->p_type != PT_LOAD)
            continue;
        if (program_end == 0)
            program_start = start;
        program_end = end; /* they stand in ascending order */
    }
}

/* The first is the program. */
static int note_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct code code;

    (void)size, (void)data;
    if (program_end == 0)
        measure_program(info);
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            modules_find(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, &code);
            break;
        }
    return 0;
}

void modules_start(void)
{
    dl_iterate_phdr(note_object, NULL);
}

/* A module whose address is now nobody's, or another's, has been unloaded. */
void modules_refresh(void)
{
    uint32_t count = atomic_load(&modules);

    for (uint32_t i = 0; i < count; i++) {
        struct module *module = atomic_load(&table[i]);
        struct dl_find_object found;

        if (!module || module->unload_us || module->flags & HQM_MODULE_MAIN)
            continue;
        if (_dl_find_object((void *)module->start, &found) == 0 && (uint64_t)found.dlfo_map_end == module->end &&
            found.dlfo_link_map == module->link_map)
            continue;
        __atomic_store_n(&module->unload_us, file_now_us() + 1, __ATOMIC_RELAXED);
        index_forget(&module->index);
        if (module->record)
            ((struct hqm_module *)module->record)->unload_us = module->unload_us;
    }
}
