/* SPDX-License-Identifier: BSD-3-Clause */
/* Setting jumps and breakpoints (patch.h): in what is loaded at the start, and in what the loader opens later. */
#include "preload/patch/patch.h"

#include "preload/file/image.h"
#include "preload/libc.h"
#include "preload/walk/module_file.h"
#include "preload/walk/modules.h"
#include "preload/options.h"
#include "preload/patch/jump.h"
#include "preload/patch/slots.h"
#include "preload/raw.h"
#include "preload/text.h"
#include "preload/signals/trap.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, PATCHED = 512, BREAKPOINT = 0xcc };

static const struct hqp_header *file; /* NULL: nothing is marked */
static const struct hqp_module *known;
static const struct hqp_place *places;

/* Modules that were patched. Touched at the start, and by the thread that holds the loader's lock. */
static struct patched {
    const void *map; /* its struct link_map; NULL: the entry is free */
    uint64_t start, end;
} patched[PATCHED];

static bool jumps;          /* nobody can have been in the code that is being patched */
static struct patch loader; /* where the loader tells a debugger that it has changed the list of modules */
static struct r_debug *debug;

/* ---- the file ---- */

static bool is_sound(const struct hqp_header *h, uint64_t bytes)
{
    const struct hqp_module *m = (const struct hqp_module *)(h + 1);

    if (bytes < sizeof *h || memcmp(h->magic, HQP_MAGIC, sizeof h->magic) != 0 ||
        bytes < sizeof *h + h->modules * (uint64_t)sizeof *m + h->places * (uint64_t)sizeof *places)
        return false;
    for (uint32_t i = 0; i < h->modules; i++)
        if (m[i].first > h->places || m[i].count > h->places - m[i].first || m[i].build_id_len > sizeof m->build_id)
            return false;
    return true;
}

static const struct hqp_header *read_file(const char *path)
{
    struct stat status;
    uint64_t bytes, at = 0;
    char *memory = NULL;
    int fd = raw_stat(path, &status) == 0 ? raw_open(path, O_RDONLY | O_CLOEXEC, 0) : -1;

    bytes = fd < 0 ? 0 : (uint64_t)status.st_size;
    memory = bytes ? raw_memory(bytes) : NULL;
    for (long n = 1; memory && at < bytes && n > 0; at += n > 0 ? (uint64_t)n : 0)
        n = raw_read(fd, memory + at, bytes - at);
    if (fd >= 0)
        raw_close(fd);
    return memory && at == bytes && is_sound((const struct hqp_header *)memory, bytes) ? (void *)memory : NULL;
}

void patch_prepare(void)
{
    const char *path = getenv("HQ_MARKS");

    if (!path || !*path)
        return;
    file = read_file(path);
    if (!file || !patch_table_make(file->places)) {
        file = NULL;
        image_warn("the places of the marked procedures could not be read: none of them is marked");
        return;
    }
    known = (const struct hqp_module *)(file + 1);
    places = (const struct hqp_place *)(known + file->modules);
    if (trap_is_traced() || trap_is_go()) {
        file = NULL;
        image_warn("a debugger, or Go's runtime, takes the breakpoints in marked procedures for its own: none of them "
                   "is marked");
        return;
    }
    trap_take();
    options.marked = true;
}

/* ---- one module ---- */

static void warn(const struct module *module, const char *what)
{
    char text[600], *end = text + sizeof text;

    append(append(append(text, end, module->path), end, ": "), end, what);
    image_warn(text);
}

static const struct hqp_module *places_of(const struct module *module)
{
    for (uint32_t i = 0; i < file->modules; i++)
        if (known[i].build_id_len == module->build_id_len && module->build_id_len &&
            memcmp(known[i].build_id, module->build_id, module->build_id_len) == 0)
            return &known[i];
    return NULL;
}

/* The executable segment that holds all of these bytes, -1 if none does. */
static int text_with(const struct module *module, uint64_t at, uint64_t bytes)
{
    for (int i = 0; i < MODULE_TEXTS; i++)
        if (at >= module->text[i].start && at + bytes <= module->text[i].end)
            return i;
    return -1;
}

static int text_of(const struct module *module, const struct hqp_place *p)
{
    return text_with(module, module->base + p->address, p->length);
}

static bool jump_is_sound(const struct module *module, const struct hqp_place *p)
{
    uint64_t at = module->base + p->jump;

    return !p->jump ||
           (p->over >= HQP_JUMP_BYTES && p->over <= HQP_MOVED && p->taken <= p->over && p->jump <= p->address &&
            p->address - p->jump < p->taken && (!p->fix || p->fix + 4 <= p->taken) &&
            text_with(module, at, p->over) >= 0 && memcmp((const void *)at, p->moved, p->over) == 0);
}

/* NULL, or why it cannot be patched. */
static const char *obstacle(const struct module *module, const struct hqp_module *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const struct hqp_place *p = &places[m->first + i];
        int text = text_of(module, p);

        if (p->length == 0 || p->length > HQP_CODE || text < 0 ||
            memcmp((const void *)(module->base + p->address), p->code, p->length) != 0 || !jump_is_sound(module, p))
            return "its code is not that of the file, so nothing in it is marked";
        if (module->text[text].writable)
            return "its code is writable, so nothing in it is marked";
    }
    return NULL;
}

static bool by_jump(const struct hqp_place *p)
{
    return jumps && p->jump;
}

static bool wants_slot(const struct hqp_place *p)
{
    return by_jump(p) || p->form == HQP_COPY;
}

static bool fill_table(const struct module *module, const struct hqp_module *m, uint64_t slots)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const struct hqp_place *p = &places[m->first + i];
        struct patch patch = {.address = module->base + p->address, .place = p, .base = module->base};

        if (by_jump(p)) {
            slot_fill_behind_jump(slots, module->base, p);
        } else if (p->form == HQP_COPY) {
            patch.slot = slots;
            slot_fill_behind_breakpoint(slots, module->base, p);
        }
        slots += wants_slot(p) ? SLOT_BYTES : 0;
        if (!by_jump(p) && !patch_put(&patch))
            return false;
    }
    return true;
}

static int protect(uint64_t start, uint64_t end, int how)
{
    start &= ~(PAGE - 1ull);
    return (int)raw_syscall(SYS_mprotect, (long)start, (long)(end - start), how, 0, 0, 0);
}

static void set_breakpoint(uint64_t at)
{
    __atomic_store_n((uint8_t *)at, BREAKPOINT, __ATOMIC_RELEASE);
}

static void set_jump(uint64_t at, uint64_t to)
{
    uint8_t code[HQP_JUMP_BYTES] = {0xe9};
    int32_t distance = (int32_t)(to - (at + sizeof code));

    memcpy(code + 1, &distance, sizeof distance);
    memcpy((void *)at, code, sizeof code);
}

/* All that is executable there stays so, since other threads may be running in it. */
static bool set_patches(const struct module *module, const struct hqp_module *m, uint64_t slots)
{
    for (int t = 0; t < MODULE_TEXTS; t++) {
        uint64_t start = 0, end = 0, slot = slots;

        for (uint32_t i = 0; i < m->count; i++) {
            const struct hqp_place *p = &places[m->first + i];
            uint64_t at = module->base + (by_jump(p) ? p->jump : p->address);

            if (text_of(module, p) == t) {
                start = start && start < at ? start : at;
                end = at + HQP_JUMP_BYTES;
            }
        }
        if (!start)
            continue;
        if (protect(start, end, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
            return false;
        for (uint32_t i = 0; i < m->count; i++) {
            const struct hqp_place *p = &places[m->first + i];

            if (text_of(module, p) == t && by_jump(p))
                set_jump(module->base + p->jump, slot);
            else if (text_of(module, p) == t)
                set_breakpoint(module->base + p->address);
            slot += wants_slot(p) ? SLOT_BYTES : 0;
        }
        protect(start, end, PROT_READ | PROT_EXEC);
    }
    return true;
}

static void patch_module(const struct module *module, const struct hqp_module *m)
{
    uint32_t count = 0;
    uint64_t slots = 0;
    const char *why = obstacle(module, m);

    for (uint32_t i = 0; i < m->count; i++)
        count += wants_slot(&places[m->first + i]);
    if (!why && count && !(slots = slots_take(module->start, module->end, count)))
        why = "there is no memory near it, so nothing in it is marked";
    if (!why && !fill_table(module, m, slots))
        why = "it was opened too often at different places: it is not marked";
    if (!why && count && !slots_close(slots, count))
        why = "the system does not let memory be made executable, so nothing in it is marked";
    if (!why && !set_patches(module, m, slots))
        why = "the system does not let its code be changed, so nothing in it is marked";
    if (why) {
        warn(module, why);
        patch_remove(module->start, module->end);
    }
}

/* ---- all of them ---- */

/* While a library is being opened only the list has it. Of a program that is not position-independent the loader knows
 * where it is. */
static bool read_module(const struct link_map *map, struct module *module)
{
    struct code code;

    if (map->l_addr && raw_readable(map->l_addr) && module_of_image(map->l_addr, map->l_addr, module)) {
        module->path = map->l_name;
        return true;
    }
    if (!map->l_ld || !modules_find((uint64_t)map->l_ld, &code))
        return false;
    *module = *modules_get(code.module);
    return true;
}

static void consider(const struct link_map *map)
{
    const struct hqp_module *m;
    struct patched *entry = NULL;
    struct module module;

    for (int i = 0; i < PATCHED; i++) {
        if (patched[i].map == map)
            return;
        if (!patched[i].map && !entry)
            entry = &patched[i];
    }
    if (!entry || !read_module(map, &module))
        return;
    m = places_of(&module);
    if (!m || !m->count)
        return;
    *entry = (struct patched){map, module.start, module.end};
    patch_module(&module, m);
}

static void look(void)
{
    for (int i = 0; i < PATCHED; i++) {
        const struct link_map *map = patched[i].map ? debug->r_map : NULL;

        while (map && map != patched[i].map)
            map = map->l_next;
        if (patched[i].map && !map) {
            patch_remove(patched[i].start, patched[i].end);
            patched[i].map = NULL;
        }
    }
    for (const struct link_map *map = debug->r_map; map; map = map->l_next)
        consider(map);
}

/* The instruction that a debugger would have a breakpoint at. */
static bool read_loader(uint64_t at, struct hqp_place *p)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    const uint8_t *code = (const uint8_t *)at;

    *p = (struct hqp_place){.address = at, .form = HQP_RETURN, .length = 1, .base = HQP_NO_REGISTER};
    if (memcmp(code, endbr64, sizeof endbr64) == 0) {
        p->form = HQP_SKIP;
        p->length = sizeof endbr64;
    }
    p->code[0] = code[0];
    return p->form == HQP_SKIP || code[0] == 0xc3;
}

/* Are there marked modules that are not loaded yet? */
static bool expects_more(void)
{
    uint32_t there = 0, wanted = 0;

    for (int i = 0; i < PATCHED; i++)
        there += patched[i].map != NULL;
    for (uint32_t i = 0; i < file->modules; i++)
        wanted += known[i].count > 0;
    return there < wanted;
}

static void watch_loader(void)
{
    static struct hqp_place place;
    uint64_t at = debug->r_brk;

    if (!at || !read_loader(at, &place)) {
        image_warn("the loader of this system does not tell when it opens libraries: marked procedures of those are "
                   "not marked");
        return;
    }
    loader = (struct patch){.address = at, .place = &place};
    if (!patch_put(&loader) || protect(at, at + 1, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return;
    set_breakpoint(at);
    protect(at, at + 1, PROT_READ | PROT_EXEC);
}

void patch_start(void)
{
    debug = file ? libc_find("_r_debug") : NULL;
    if (!debug)
        return;
    const char *by = getenv("HQ_MARKS_BY");
    bool possible = !(by && !strcmp(by, "breakpoints")) && jump_is_possible();
    jumps = possible && trap_is_alone();
    look();
    jumps = possible; /* of what is opened from now on nothing has run */
    if (expects_more())
        watch_loader();
}

void patch_end(void)
{
    jump_end();
    for (const struct patch *patch = patch_next(NULL); patch; patch = patch_next(patch)) {
        const struct hqp_place *place = patch->place;

        if (protect(patch->address, patch->address + 1, PROT_READ | PROT_WRITE | PROT_EXEC) == 0)
            __atomic_store_n((uint8_t *)patch->address, place->code[0], __ATOMIC_RELEASE);
        protect(patch->address, patch->address + 1, PROT_READ | PROT_EXEC);
    }
}

void patch_loader_changed(void)
{
    if (debug->r_state == RT_CONSISTENT && !raw_frozen)
        look();
}

bool patch_is_loader(const struct patch *patch)
{
    return patch->address == loader.address;
}
