/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/modules.h"

#include "preload/file.h"
#include "preload/find.h"
#include "preload/heap.h"
#include "preload/hot.h"
#include "preload/loader.h"
#include "preload/loose.h"
#include "preload/raw.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

static _Atomic(struct module *) table[MODULES_NOTED];
uint64_t modules_bases[MODULES_NOTED] __attribute__((aligned(64)));
static _Atomic uint32_t modules; /* numbers given out; a slot may still be empty */
static _Atomic uint32_t closing; /* calls of dlclose under way, */
static __thread uint32_t own_closing __attribute__((tls_model("initial-exec"))); /* and those of this thread */
static bool starting;                                                            /* the program has not begun */
static atomic_flag path_busy = ATOMIC_FLAG_INIT;

/*
 * From the first segment of the program to its last. The kernel leaves gaps between the segments where the linker did
 * (a page before the data is enough), and then the loader answers for each segment by itself. What it maps it fills up.
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
            module->text[texts].writable = header->p_flags & PF_W;
            module->text[texts++].end = start + header->p_memsz;
        } else if (header->p_type == PT_NOTE && !module->build_id_len) {
            read_build_id(module, (const char *)start, header->p_filesz);
        }
    }
}

bool modules_read(uint64_t image, uint64_t base, struct module *out)
{
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)image;
    const Elf64_Phdr *header = (const Elf64_Phdr *)(image + elf->e_phoff);

    *out = (struct module){.base = base, .start = image};
    if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_phoff + elf->e_phnum * sizeof *header > 4096)
        return false;
    for (int i = 0; i < elf->e_phnum; i++)
        if (header[i].p_type == PT_LOAD && base + header[i].p_vaddr + header[i].p_memsz > out->end)
            out->end = base + header[i].p_vaddr + header[i].p_memsz;
    read_program_headers(out);
    return out->end > out->start;
}

/* Before glibc 2.34 its file is ld-2.31.so, to which ld-linux-x86-64.so.2 is a link. */
static bool is_loader(const char *name, long length)
{
    return (length >= 9 && memcmp(name, "ld-linux-", 9) == 0) || (length >= 5 && memcmp(name, "ld-2.", 5) == 0);
}

long modules_program(char *path, size_t bytes)
{
    long length = raw_readlink("/proc/self/exe", path, bytes);
    const char *name = program_invocation_name;
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

/* The loader knows the program by an empty name, and files opened by a relative path by that. */
static const char *absolute_path(const struct module *module, const char *name)
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
    atomic_flag_clear(&path_busy);
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

static bool is_program(const struct object *object)
{
    return program_start <= object->start && object->end <= program_end;
}

static uint32_t flags_of(const struct object *object, const char *name)
{
    uint64_t own = (uint64_t)&modules_start;

    if (is_program(object))
        return HQM_MODULE_MAIN;
    if (strstr(name, "/libhqexact.so") || strstr(name, "/libhqmpi.so") || strstr(name, "/libhqgpu.so"))
        return HQM_MODULE_COLLECTOR;
    if (strstr(name, "linux-vdso") || strstr(name, "linux-gate") || strcmp(name, "[vdso]") == 0)
        return HQM_MODULE_VDSO;
    return object->start <= own && own < object->end ? HQM_MODULE_COLLECTOR : 0;
}

static uint32_t note_as(const struct object *object, const char *name)
{
    struct module *module = heap_take(sizeof *module);

    if (!module)
        return 0;
    module->base = object->base;
    module->start = object->start;
    module->end = object->end;
    module->eh_frame_hdr = object->eh_frame_hdr;
    module->lasts = starting;
    module->load_us = file_now_us();
    module->flags = flags_of(object, name);
    if (module->flags & HQM_MODULE_MAIN) {
        module->start = program_start;
        module->end = program_end;
    }
    module->path = absolute_path(module, name);
    if (!module->path)
        return 0;
    read_program_headers(module);
    read_file_status(module);
    return add(module);
}

static COLD uint32_t note(const struct object *object)
{
    char path[PATH_MAX];

    return note_as(object, find_name(object, path, sizeof path));
}

/* Whether module and object are the same file at the same place: a path alone would not tell a file that was replaced
 * meanwhile. */
static bool is_same(const struct module *module, const struct object *object)
{
    struct module fresh = {.start = object->start, .end = object->end, .base = object->base};

    if (module->flags & (HQM_MODULE_MAIN | HQM_MODULE_VDSO))
        return true;
    if (object->map) {
        const char *name = object->map->l_name;
        size_t whole = strlen(module->path), part = strlen(name);
        if (part > whole || strcmp(module->path + whole - part, name) != 0)
            return false;
    }
    read_program_headers(&fresh);
    if (!object->map && !fresh.build_id_len) {
        char path[PATH_MAX];
        return !module->build_id_len && strcmp(find_name(object, path, sizeof path), module->path) == 0;
    }
    return fresh.build_id_len == module->build_id_len &&
           memcmp(fresh.build_id, module->build_id, sizeof fresh.build_id) == 0;
}

static bool is_at(const struct module *module, const struct object *object)
{
    if (!module)
        return false;
    if (module->flags & HQM_MODULE_MAIN)
        return is_program(object);
    return module->start == object->start && module->end == object->end;
}

static COLD uint32_t search(const struct object *object)
{
    for (uint32_t i = atomic_load(&modules); i-- > 0;) {
        struct module *module = atomic_load_explicit(&table[i], memory_order_acquire);

        if (!is_at(module, object))
            continue;
        /* The kernel is asked because the table is in doubt. */
        if (!__atomic_load_n(&module->unload_us, __ATOMIC_RELAXED) && find_is_quick())
            return i + 1;
        if (is_same(module, object)) {
            __atomic_store_n(&module->unload_us, 0, __ATOMIC_RELAXED);
            if (module->record)
                ((struct hqm_module *)module->record)->unload_us = 0;
            return i + 1;
        }
    }
    return note(object);
}

static _Atomic uint32_t latest; /* mostly it is the module of the search before */

/* The others' records need not be touched. */
LEARN static uint32_t number_of(const struct object *object)
{
    uint32_t number = atomic_load_explicit(&latest, memory_order_relaxed);
    const struct module *module = number ? modules_get(number) : NULL;

    if (!is_at(module, object) || __atomic_load_n(&module->unload_us, __ATOMIC_RELAXED) || !find_is_quick()) {
        number = search(object);
        atomic_store_explicit(&latest, number, memory_order_relaxed);
    }
    return number;
}

/* Is the address in what the table has, beyond doubt? While a library is being closed, only what lasts is. */
static bool holds(uint32_t number, uint64_t address)
{
    const struct module *module = number ? modules_get(number) : NULL;

    return module && address >= module->start && address < module->end &&
           !__atomic_load_n(&module->unload_us, __ATOMIC_RELAXED) &&
           (module->lasts || atomic_load_explicit(&closing, memory_order_acquire) == 0);
}

/* Where an answer of find_object is dear, the table is asked first. 0: it does not know. */
static uint32_t number_at(uint64_t address)
{
    uint32_t number = atomic_load_explicit(&latest, memory_order_relaxed);

    if (holds(number, address))
        return number;
    for (number = atomic_load(&modules); number > 0; number--)
        if (holds(number, address)) {
            atomic_store_explicit(&latest, number, memory_order_relaxed);
            return number;
        }
    return 0;
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
    struct object found;
    struct module *module;

    code->module = find_is_quick() ? 0 : number_at(address);
    if (code->module == 0) {
        if (!find_object(address, &found))
            return false;
        code->module = number_of(&found);
    }
    if (code->module == 0)
        return false;
    module = atomic_load_explicit(&table[code->module - 1], memory_order_acquire);
    code->eh_frame_hdr = module->eh_frame_hdr;
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
    struct object object;
    struct code code;

    (void)size, (void)data;
    if (program_end == 0)
        measure_program(info);
    if (!find_object_of(info, &object))
        return 0;
    if (find_is_quick())
        modules_find(object.start, &code);
    else if (!number_at(object.start))
        note_as(&object, info->dlpi_name);
    return 0;
}

void modules_start(void)
{
    starting = true;
    dl_iterate_phdr(note_object, NULL);
    starting = false;
}

void modules_closing(void)
{
    own_closing++;
    atomic_fetch_add(&closing, 1);
}

void modules_forget(void)
{
    atomic_store(&closing, own_closing);
    atomic_flag_clear(&path_busy);
}

static bool is_there(const struct module *module)
{
    struct object found;

    return find_object(module->start, &found) && is_at(module, &found) && is_same(module, &found);
}

static int mark_object(struct dl_phdr_info *info, size_t size, void *data)
{
    const uint32_t *round = data;
    struct object object;
    uint32_t count = find_object_of(info, &object) ? atomic_load(&modules) : 0;

    (void)size;
    for (uint32_t i = 0; i < count; i++)
        if (table[i] && is_at(table[i], &object) && is_same(table[i], &object))
            table[i]->seen = *round;
    return 0;
}

static void note_unloaded(struct module *module)
{
    __atomic_store_n(&module->unload_us, file_now_us() + 1, __ATOMIC_RELAXED);
    index_forget(&module->index);
    if (module->record)
        ((struct hqm_module *)module->record)->unload_us = module->unload_us;
}

/* A module whose address is now nobody's, or another's, has been unloaded. */
void modules_refresh(void)
{
    static _Atomic uint32_t rounds;
    uint32_t count = atomic_load(&modules), round = atomic_fetch_add(&rounds, 1) + 1;

    if (!find_is_quick())
        loader_list(mark_object, &round);
    for (uint32_t i = 0; i < count; i++) {
        struct module *module = atomic_load(&table[i]);

        if (module && !module->unload_us && !(module->flags & HQM_MODULE_MAIN) &&
            !(find_is_quick() ? is_there(module) : module->seen >= round))
            note_unloaded(module);
    }
    if (!find_is_quick()) /* else the list tells only of code in no module, which dlclose does not touch */
        loose_stale();
    atomic_fetch_sub(&closing, 1);
    own_closing--;
}
