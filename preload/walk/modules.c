/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/walk/modules.h"

#include "preload/file/file.h"
#include "preload/walk/find.h"
#include "preload/heap.h"
#include "preload/hot.h"
#include "preload/libc.h"
#include "preload/loader.h"
#include "preload/walk/loose.h"
#include "preload/walk/module_file.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

static _Atomic(struct module *) table[MODULES_NOTED];
uint64_t modules_bases[MODULES_NOTED] __attribute__((aligned(64)));
static _Atomic uint32_t modules; /* numbers given out; a slot may still be empty */
struct modules_unloading modules_unloading __attribute__((aligned(8)));
static __thread uint32_t own_closing __attribute__((tls_model("initial-exec"))); /* dlclose of this thread */
static atomic_flag copying = ATOMIC_FLAG_INIT;
static bool starting; /* the program has not begun */

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
    if (strstr(name, "linux-vdso") || strstr(name, "linux-gate") || !strcmp(name, "[vdso]"))
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
    module->path = module_path(module, name);
    if (!module->path)
        return 0;
    module_read_headers(module);
    module_read_status(module);
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
        if (part > whole || strcmp(module->path + whole - part, name))
            return false;
    }
    module_read_headers(&fresh);
    if (!object->map && !fresh.build_id_len) {
        char path[PATH_MAX];
        return !module->build_id_len && !strcmp(find_name(object, path, sizeof path), module->path);
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

static void note_unloaded(struct module *module)
{
    __atomic_store_n(&module->unload_us, file_now_us() + 1, __ATOMIC_RELAXED);
    index_forget(&module->index);
    if (module->record)
        ((struct hqm_module *)module->record)->unload_us = module->unload_us;
}

static void note_loaded(struct module *module)
{
    __atomic_store_n(&module->unload_us, 0, __ATOMIC_RELAXED);
    if (module->record)
        ((struct hqm_module *)module->record)->unload_us = 0;
}

/* Is the table believed without a look at what is there? Not where the kernel is asked, for then it is in doubt. */
static LEARN bool is_sure(uint32_t number, const struct module *module)
{
    return find_is_quick() && !__atomic_load_n(&module->unload_us, __ATOMIC_RELAXED) &&
           !__atomic_load_n(&module->doubted, __ATOMIC_ACQUIRE) && !modules_may_go(number);
}

static COLD uint32_t search(const struct object *object)
{
    for (uint32_t i = atomic_load(&modules); i-- > 0;) {
        struct module *module = atomic_load_explicit(&table[i], memory_order_acquire);

        if (!is_at(module, object))
            continue;
        if (is_sure(i + 1, module))
            return i + 1;
        __atomic_store_n(&module->doubted, false, __ATOMIC_RELEASE);
        if (is_same(module, object)) {
            if (__atomic_load_n(&module->unload_us, __ATOMIC_RELAXED))
                note_loaded(module);
            return i + 1;
        }
        if (!__atomic_load_n(&module->unload_us, __ATOMIC_RELAXED))
            note_unloaded(module);
    }
    return note(object);
}

static _Atomic uint32_t latest; /* mostly it is the module of the search before */

/* The others' records need not be touched. */
LEARN static uint32_t number_of(const struct object *object)
{
    uint32_t number = atomic_load_explicit(&latest, memory_order_relaxed);
    const struct module *module = number ? modules_get(number) : NULL;

    if (!is_at(module, object) || !is_sure(number, module)) {
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
           (module->lasts || atomic_load_explicit(&modules_unloading.closing, memory_order_acquire) == 0);
}

bool modules_may_go(uint32_t number)
{
    return number && atomic_load_explicit(&modules_unloading.closing, memory_order_acquire) != 0 &&
           !modules_get(number)->lasts;
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

/* Where the code at an offset of the file that begins at `image` would be for base 0. */
static bool link_address(uint64_t image, uint64_t offset, uint64_t *address)
{
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)image;
    const Elf64_Phdr *header = (const Elf64_Phdr *)(image + elf->e_phoff);

    for (int i = 0; i < elf->e_phnum; i++, header++)
        if (header->p_type == PT_LOAD && offset >= header->p_offset && offset - header->p_offset < header->p_filesz) {
            *address = header->p_vaddr + (offset - header->p_offset);
            return true;
        }
    return false;
}

static COLD uint32_t note_copy(const struct module *of, uint64_t base)
{
    struct module *module = heap_take(sizeof *module);

    if (!module)
        return 0;
    *module = (struct module){.base = base,
                              .path = of->path,
                              .lasts = true,
                              .load_us = file_now_us(),
                              .file_size = of->file_size,
                              .file_mtime_ns = of->file_mtime_ns,
                              .build_id_len = of->build_id_len};
    memcpy(module->build_id, of->build_id, sizeof module->build_id);
    return add(module);
}

/* A copy has no extent, so no search finds it. Its file is not unloaded: for others the copy might be of what was. */
COLD uint32_t modules_copy(uint64_t address)
{
    uint64_t offset, link, image = loose_copy(address, &offset);
    const struct module *of = NULL;
    uint32_t count = image ? atomic_load(&modules) : 0, number = 0;

    for (uint32_t i = 0; i < count && !of; i++) {
        const struct module *module = modules_get(i + 1);

        if (module && module->lasts && module->start == image && module->text[0].end)
            of = module;
    }
    if (!of || !link_address(image, offset, &link))
        return 0;
    for (uint32_t i = 0; i < count; i++)
        if (modules_get(i + 1) && !modules_get(i + 1)->end && modules_base(i + 1) == address - link)
            return i + 1;
    if (atomic_flag_test_and_set(&copying))
        return 0;
    number = note_copy(of, address - link);
    atomic_flag_clear(&copying);
    return number;
}

uint32_t modules_collector(void)
{
    struct code code;

    return modules_find((uint64_t)&modules_start, &code) ? code.module : 0;
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
    libc_each_module(note_object, NULL);
    starting = false;
}

void modules_closing(void)
{
    own_closing++;
    atomic_fetch_add(&modules_unloading.closing, 1);
    atomic_fetch_add(&modules_unloading.times, 1);
}

void modules_forget(void)
{
    uint32_t count = atomic_load(&modules);

    for (uint32_t i = 0; i < count; i++)
        if (table[i])
            table[i]->record = NULL; /* in the parent's file; there is none here before the first sample */
    atomic_store(&modules_unloading.closing, own_closing);
    module_path_forget();
    atomic_flag_clear(&copying);
}

static bool is_somebody_there(const struct module *module)
{
    struct object found;

    return find_extent(module->start, &found) && is_at(module, &found);
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

/* A module whose address is now nobody's, or another's, has been unloaded: where the loader answers at once the next
 * sample there will tell whose it is, since what is on a stack stays. */
void modules_refresh(void)
{
    static _Atomic uint32_t rounds;
    uint32_t count = atomic_load(&modules), round = atomic_fetch_add(&rounds, 1) + 1;

    if (!find_is_quick())
        loader_list(mark_object, &round);
    for (uint32_t i = 0; i < count; i++) {
        struct module *module = atomic_load(&table[i]);

        if (module && module->end && !module->unload_us && !(module->flags & HQM_MODULE_MAIN) &&
            !(find_is_quick() ? is_somebody_there(module) : module->seen >= round))
            note_unloaded(module);
        else if (module)
            __atomic_store_n(&module->doubted, true, __ATOMIC_RELEASE);
    }
    if (!find_is_quick()) /* else the list tells only of code in no module, which dlclose does not touch */
        loose_stale();
    atomic_fetch_add(&modules_unloading.times, 1);
    atomic_fetch_sub(&modules_unloading.closing, 1);
    own_closing--;
}
