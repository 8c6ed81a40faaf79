/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/plt.h"
#include "structure/arch/arch.h"
#include "structure/range.h"
#include <stdlib.h>
#include <string.h>

struct slot {
    uint64_t address;
    const char *name;
};
struct slots {
    struct slot *data;
    size_t len, cap;
    size_t lazy; /* the first `lazy` were those of .rela.plt, in its order, before sorting */
};

/* NULL: it has none, or is data. */
static const char *procedure_name(const uint8_t *symbols, size_t symbols_size, const uint8_t *strings,
                                  size_t strings_size, uint64_t index)
{
    Elf64_Sym sym;

    if (!index || index >= symbols_size / sizeof sym)
        return NULL;
    memcpy(&sym, symbols + index * sizeof sym, sizeof sym);
    if (ELF64_ST_TYPE(sym.st_info) == STT_OBJECT || ELF64_ST_TYPE(sym.st_info) == STT_TLS)
        return NULL;
    return elf_string(strings, strings_size, sym.st_name);
}

static void read_slots(struct elf *text, const char *table, const struct symbols *known, struct slots *out)
{
    struct elf_section *s = elf_find_section(text, ".dynsym");
    const uint8_t *data, *symbols = NULL, *strings = NULL;
    size_t size, symbols_size = 0, strings_size = 0;
    const struct arch *arch = arch_of(text->machine);

    if (s && s->link < text->section_count && elf_section_data(text, s, &symbols, &symbols_size))
        elf_section_data(text, &text->sections[s->link], &strings, &strings_size);
    if (!elf_read_section(text, table, &data, &size))
        return;
    for (size_t at = 0; size - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        const char *name = NULL;

        memcpy(&r, data + at, sizeof r);
        uint32_t type = (uint32_t)ELF64_R_TYPE(r.r_info);
        if (type == arch->jump_slot || type == arch->glob_dat) {
            name = procedure_name(symbols, symbols_size, strings, strings_size, ELF64_R_SYM(r.r_info));
        } else if (type == arch->irelative) {
            const struct symbol *resolver = symbols_at(known, (uint64_t)r.r_addend);

            name = resolver ? known->names[resolver->first] : NULL;
        } else {
            continue;
        }
        vec_push(out, (struct slot){r.r_offset, name && *name ? name : NULL});
    }
}

static int by_address(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

static const char *slot_name(const struct slots *slots, uint64_t address)
{
    struct slot key = {.address = address};
    const struct slot *found = slots->len ? bsearch(&key, slots->data, slots->len, sizeof key, by_address) : NULL;

    return found ? found->name : NULL;
}

/* jmp *slot(%rip), perhaps with a bnd prefix, somewhere in the stub. */
static const char *jump_target(const uint8_t *p, size_t size, uint64_t address, const struct slots *slots)
{
    for (size_t i = 0; i + 6 <= size; i++) {
        int32_t offset;

        if (p[i] != 0xff || p[i + 1] != 0x25)
            continue;
        memcpy(&offset, p + i + 2, sizeof offset);
        return slot_name(slots, address + i + 6 + (uint64_t)(int64_t)offset);
    }
    return NULL;
}

/* With branch protection the first table only pushes the number of the relocation; the jump is in a second table. */
static const char *push_target(const uint8_t *p, size_t size, const char *const *lazy, size_t lazy_count)
{
    for (size_t i = 0; i + 5 <= size && i <= 4; i++) {
        uint32_t number;

        if (p[i] != 0x68)
            continue;
        memcpy(&number, p + i + 1, sizeof number);
        return number < lazy_count ? lazy[number] : NULL;
    }
    return NULL;
}

static void read_stubs(struct elf *text, struct elf_section *s, const struct slots *slots, const char *const *lazy,
                       struct plt *out)
{
    size_t entry = !strcmp(s->name, ".plt.got") && s->entry_size == 8 ? 8 : 16, size;
    const uint8_t *data;

    if (!elf_section_data(text, s, &data, &size) || !s->address)
        return;
    for (size_t at = 0; at + entry <= size; at += entry) {
        const struct arch *arch = arch_of(text->machine);
        uint64_t slot = 0;
        const char *target;

        if (arch->stub)
            entry = arch->stub(data + at, size - at, s->address + at, &slot);
        target = arch->stub ? slot_name(slots, slot) : jump_target(data + at, entry, s->address + at, slots);
        if (!target && !arch->stub)
            target = push_target(data + at, entry, lazy, slots->lazy);
        if (!target)
            target = at ? "unknown" : "";
        size_t len = symbol_name_length(target);
        struct stub stub = {
            .low = s->address + at, .high = s->address + at + entry, .target = arena_strndup(&out->arena, target, len)};
        stub.name = *target ? arena_printf(&out->arena, "%.*s@plt", (int)len, target) : "dynamic linker stub@plt";
        vec_push(&out->stubs, stub);
        out->named += len;
        /* Each lies in the file once, and names are those of symbols. */
        if (out->stubs.len > text->size / 8 || out->named > 16 * (uint64_t)text->size + (1u << 20)) {
            text->beyond = "stubs for calls of libraries";
            return;
        }
    }
}

static void add_slots(const struct elf *text, const struct slots *slots, struct plt *out)
{
    for (size_t i = 0; i < slots->len && out->slots.len <= text->size / 8; i++) {
        const struct slot *s = &slots->data[i];

        /* Names are those of symbols, and live as long as the file. */
        if (s->name && (!i || s[-1].address != s->address))
            vec_push(&out->slots, (struct stub){s->address, s->address + sizeof(uint64_t), s->name, s->name});
    }
}

void plt_read(struct elf *text, const struct symbols *symbols, struct plt *out)
{
    struct slots slots = {0};

    *out = (struct plt){0};
    read_slots(text, ".rela.plt", symbols, &slots);
    slots.lazy = slots.len;
    const char **lazy = xcalloc(slots.len + 1, sizeof *lazy);
    for (size_t i = 0; i < slots.len; i++)
        lazy[i] = slots.data[i].name;
    read_slots(text, ".rela.dyn", symbols, &slots);
    vec_sort(&slots, by_address);
    for (size_t i = 0; i < text->section_count; i++) {
        struct elf_section *s = &text->sections[i];

        if (!strcmp(s->name, ".plt") || !strcmp(s->name, ".plt.sec") || !strcmp(s->name, ".plt.got") ||
            !strcmp(s->name, ".iplt"))
            read_stubs(text, s, &slots, lazy, out);
    }
    range_sort(&out->stubs);
    add_slots(text, &slots, out);
    free(lazy);
    vec_deinit(&slots);
}

void plt_deinit(struct plt *p)
{
    vec_deinit(&p->stubs);
    vec_deinit(&p->slots);
    arena_deinit(&p->arena);
}

const struct stub *plt_find(const struct plt *p, uint64_t address)
{
    const struct stub *stub = range_find(&p->stubs, address);

    return stub ? stub : range_find(&p->slots, address);
}

enum { SLOT_LENGTH = 6, GROUP = 0xff, CALL_SLOT = 0x15, JUMP_SLOT = 0x25 }; /* ff /2 and ff /4 with slot(%rip) */

static void resolve(const struct plt *p, const uint8_t *code, struct insn *in)
{
    const uint8_t *end = code + in->length;
    int32_t distance;

    if ((in->kind != INSN_CALL_INDIRECT && in->kind != INSN_JUMP_INDIRECT) || in->length < SLOT_LENGTH ||
        end[-SLOT_LENGTH] != GROUP || end[1 - SLOT_LENGTH] != (in->kind == INSN_CALL_INDIRECT ? CALL_SLOT : JUMP_SLOT))
        return;
    memcpy(&distance, end - sizeof distance, sizeof distance);
    uint64_t slot = in->address + in->length + (uint64_t)(int64_t)distance;
    if (!range_find(&p->slots, slot))
        return;
    in->kind = in->kind == INSN_CALL_INDIRECT ? INSN_CALL : INSN_JUMP;
    in->target = slot;
}

void plt_decode(const struct plt *p, uint16_t machine, const uint8_t *code, size_t size, uint64_t address,
                struct insn *out)
{
    insn_decode(machine, code, size, address, out);
    resolve(p, code, out);
}

const char *plt_callee(const struct plt *p, uint64_t target)
{
    const struct stub *stub = plt_find(p, target);

    return stub && *stub->target ? stub->target : NULL;
}
