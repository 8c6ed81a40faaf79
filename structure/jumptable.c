/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The forms that gcc and clang give to a switch, on x86-64:
 *
 *     lea table(%rip), B;  movslq (B,I,4), T;  add B, T;  jmp *T         offsets from the table
 *     jmp *table(,I,8)   or   mov table(,I,8), T;  jmp *T                addresses
 *     lea table(%rip), B;  jmp *(B,I,8)                                  addresses
 *     lea 0(,I,4), J;  lea table(%rip), B;  mov (J,B,1), T;  cltq; ...   offsets, where nothing is optimised
 *
 * and on aarch64, with offsets of one, two or four bytes (in instructions, or bytes) from a label:
 *
 *     adrp, add B = table;  ldrb T, [B, I];  adr L, label;  add T, L, T, sxtb #2;  br T
 *
 * with cmp $N, I; ja default before it (where nothing is optimised I may be compared in memory, or kept there since a
 * copy of it was). Registers are followed backwards in the order of the code, which is
 * enough because compilers keep these instructions together; only the lea may be far away, outside a loop.
 */
#include "structure/arch/arch.h"
#include "structure/cfg.h"
#include <string.h>

#define WINDOW      48 /* instructions looked back from the jump */
#define MAX_ENTRIES 16384

struct table_form {
    uint64_t table, base; /* base: what offsets are from */
    bool offsets;         /* else addresses */
    uint8_t width, scale; /* bytes of an entry; what an offset is multiplied by */
    bool is_signed;
    uint8_t index; /* register */
    uint32_t load; /* instruction that reads the table */
};

static void detail_at(const struct image *image, const struct cfg *g, uint32_t i, struct insn_detail *out)
{
    const struct insn *in = &g->insns.data[i];
    size_t available;
    const uint8_t *code = elf_at(image->text, in->address, &available);

    insn_decode_detail(image->text->machine, code, code ? in->length : 0, in->address, out);
}

static bool lost_in_call(const struct image *image, const struct insn_detail *d, uint8_t reg)
{
    return d->clobbers && !arch_of(image->text->machine)->keeps(reg);
}

/* The nearest instruction before `before` that writes a register; CFG_NONE if the window ends first. */
static uint32_t definition(const struct image *image, const struct cfg *g, uint32_t before, uint8_t reg,
                           uint32_t window, struct insn_detail *out)
{
    for (uint32_t i = before; i-- > 0 && before - i <= window;) {
        detail_at(image, g, i, out);
        if (lost_in_call(image, out, reg))
            return CFG_NONE;
        if (out->reg == reg && out->form != INSN_FORM_COMPARE && out->form != INSN_FORM_JUMP_REGISTER)
            return i;
    }
    return CFG_NONE;
}

/* The address that a register holds before an instruction: the nearest lea of it, through copies. */
static bool constant(const struct image *image, const struct cfg *g, uint32_t before, uint8_t reg, uint64_t *out)
{
    struct insn_detail d;
    uint64_t more = 0;

    for (int copies = 0; copies < 4 && reg != INSN_NO_REGISTER; copies++) {
        uint32_t at = definition(image, g, before, reg, WINDOW, &d);

        if (at != CFG_NONE && d.form == INSN_FORM_COPY) {
            reg = d.source;
            before = at;
            continue;
        }
        if (at != CFG_NONE && d.form == INSN_FORM_ADD_VALUE) {
            reg = d.source;
            before = at;
            more += d.value;
            continue;
        }
        if (at != CFG_NONE && d.form == INSN_FORM_ADDRESS) {
            *out = d.value + more;
            return true;
        }
        break;
    }
    /* Hoisted out of a loop: the nearest one before, past anything else that the compiler put between. */
    for (uint32_t i = before; i-- > 0;) {
        detail_at(image, g, i, &d);
        if (d.form == INSN_FORM_ADD_VALUE && d.reg == reg) {
            reg = d.source;
            more += d.value;
        } else if (d.form == INSN_FORM_ADDRESS && d.reg == reg) {
            *out = d.value + more;
            return true;
        }
    }
    return false;
}

static bool memory_table(const struct image *image, const struct cfg *g, uint32_t at, const struct insn_detail *d,
                         struct table_form *out)
{
    out->index = d->index;
    out->load = at;
    if (d->index == INSN_NO_REGISTER || (d->scale != 8 && d->scale != 4))
        return false;
    out->offsets = out->is_signed = d->scale == 4;
    out->width = d->scale;
    out->scale = 1;
    if (d->base == INSN_NO_REGISTER) {
        out->table = d->value;
        return d->value;
    }
    if (!constant(image, g, at, d->base, &out->table))
        return false;
    out->table += d->value;
    return true;
}

/* mov (J,B,1), T: one of the two registers is I * 4, and the other one the table. */
static bool split_table(const struct image *image, const struct cfg *g, uint32_t at, const struct insn_detail *d,
                        struct table_form *out)
{
    uint8_t parts[2] = {d->base, d->index};

    for (int i = 0; i < 2; i++) {
        struct insn_detail scaled;
        uint32_t made = definition(image, g, at, parts[i], WINDOW, &scaled);

        if (made == CFG_NONE || scaled.form != INSN_FORM_ADD_SCALED || scaled.base != INSN_NO_REGISTER ||
            scaled.scale != d->width || !constant(image, g, at, parts[1 - i], &out->table))
            continue;
        *out = (struct table_form){.table = out->table + d->value,
                                   .offsets = true,
                                   .is_signed = true,
                                   .width = d->width,
                                   .scale = 1,
                                   .index = scaled.source,
                                   .load = made};
        return true;
    }
    return false;
}

/* jmp *T after add B, T: one of the two was loaded from the table, and the other one is the table. */
static bool sum_table(const struct image *image, const struct cfg *g, uint32_t add, const struct insn_detail *d,
                      struct table_form *out)
{
    uint8_t parts[2] = {d->reg, d->source};

    for (int i = 0; i < 2; i++) {
        struct insn_detail load;
        uint32_t at = definition(image, g, add, parts[i], WINDOW, &load);

        if (at == CFG_NONE || load.form != INSN_FORM_LOAD || load.width != 4)
            continue;
        if (load.scale == 4 ? memory_table(image, g, at, &load, out)
                            : load.scale == 1 && split_table(image, g, at, &load, out))
            return true;
    }
    return false;
}

/* br T after add T, B, L * scale: L was loaded from a table of small offsets from B. */
static bool scaled_table(const struct image *image, const struct cfg *g, uint32_t add, const struct insn_detail *d,
                         struct table_form *out)
{
    struct insn_detail load;
    uint32_t at = definition(image, g, add, d->source, WINDOW, &load);

    if (at == CFG_NONE || load.form != INSN_FORM_LOAD || load.index == INSN_NO_REGISTER || load.scale != load.width ||
        load.width > 4 || !constant(image, g, at, load.base, &out->table) ||
        !constant(image, g, add, d->base, &out->base))
        return false;
    out->offsets = true;
    out->width = load.width;
    out->scale = d->scale;
    out->is_signed = load.is_signed || d->is_signed;
    out->index = load.index;
    out->load = at;
    return true;
}

static bool find_form(const struct image *image, const struct cfg *g, uint32_t jump, struct table_form *out)
{
    struct insn_detail d;

    detail_at(image, g, jump, &d);
    if (d.form == INSN_FORM_JUMP_MEMORY)
        return memory_table(image, g, jump, &d, out) && !out->offsets;
    uint8_t reg = d.reg;
    uint32_t at = jump;
    for (int copies = 0; copies < 3; copies++) {
        at = definition(image, g, at, reg, WINDOW, &d);
        if (at == CFG_NONE)
            return false;
        if (d.form == INSN_FORM_ADD)
            return sum_table(image, g, at, &d, out) && ((out->base = out->table), true);
        if (d.form == INSN_FORM_ADD_SCALED)
            return scaled_table(image, g, at, &d, out);
        if (d.form == INSN_FORM_LOAD)
            return d.scale == 8 && memory_table(image, g, at, &d, out);
        if (d.form != INSN_FORM_COPY)
            return false;
        reg = d.source;
    }
    return false;
}

static bool is_same_place(const struct insn_detail *a, const struct insn_detail *b)
{
    return a->base != INSN_NO_REGISTER && a->base == b->base && a->displacement == b->displacement &&
           a->index == INSN_NO_REGISTER && b->index == INSN_NO_REGISTER;
}

/* Before an instruction: does a register hold what is stored there? By `mov S, place`, maybe with a copy in front. */
static bool is_copy_of(const struct image *image, const struct cfg *g, uint32_t before, uint8_t reg,
                       const struct insn_detail *place)
{
    struct insn_detail store, copy;

    if (before < 2)
        return false;
    detail_at(image, g, before - 1, &store);
    if (!is_same_place(&store, place))
        return false;
    if (store.form != INSN_FORM_STORE)
        return store.form == INSN_FORM_LOAD && store.reg == reg;
    detail_at(image, g, before - 2, &copy);
    return store.source == reg || (copy.form == INSN_FORM_COPY && ((copy.source == reg && copy.reg == store.source) ||
                                                                   (copy.reg == reg && copy.source == store.source)));
}

/* The index is loaded behind the branch, where nothing is optimised: cmp $N, place, or a copy of it; ja; mov place, I.
 */
static size_t bound_in_memory(const struct image *image, const struct cfg *g, uint32_t load,
                              const struct insn_detail *place)
{
    struct insn_detail d;

    if (load < 2 || g->insns.data[load - 1].kind != INSN_BRANCH)
        return MAX_ENTRIES;
    detail_at(image, g, load - 2, &d);
    if ((d.form != INSN_FORM_COMPARE && d.form != INSN_FORM_SUBTRACT) || d.value >= MAX_ENTRIES)
        return MAX_ENTRIES;
    bool known = d.reg == INSN_NO_REGISTER ? is_same_place(&d, place) : is_copy_of(image, g, load - 2, d.reg, place);
    return known ? (size_t)d.value + 1 : MAX_ENTRIES;
}

/* cmp $N, I or and $N, I before the load: N + 1 entries. Without one the table ends where its targets do. */
static size_t bound(const struct image *image, const struct cfg *g, const struct table_form *form)
{
    struct insn_detail d;
    uint8_t index = form->index;

    for (uint32_t i = form->load; i-- > 0 && form->load - i <= WINDOW;) {
        detail_at(image, g, i, &d);
        if ((d.form == INSN_FORM_COMPARE || d.form == INSN_FORM_MASK) && d.reg == index && d.value < MAX_ENTRIES)
            return (size_t)d.value + 1;
        if (d.form == INSN_FORM_LOAD && d.reg == index)
            return bound_in_memory(image, g, i, &d);
        if (d.form == INSN_FORM_COPY && d.reg == index)
            index = d.source;
        else if (d.reg == index || lost_in_call(image, &d, index))
            break;
    }
    return MAX_ENTRIES;
}

bool cfg_jump_table(const struct image *image, const struct cfg *g, uint32_t jump, struct cfg_targets *out)
{
    struct table_form form;
    size_t available;

    if (!find_form(image, g, jump, &form))
        return false;
    const uint8_t *table = elf_at(image->text, form.table, &available);
    size_t width = form.width, entries = bound(image, g, &form);
    /* Nearly every small offset leads to an instruction: only a bound ends such a table. */
    if (!table || (width < 4 && entries == MAX_ENTRIES))
        return false;
    if (entries > available / width)
        entries = available / width;
    for (size_t i = 0; i < entries; i++) {
        uint64_t target = 0;

        memcpy(&target, table + i * width, width);
        if (form.offsets && form.is_signed)
            target = (uint64_t)((int64_t)(target << (64 - 8 * width)) >> (64 - 8 * width));
        if (form.offsets)
            target = form.base + target * form.scale;
        uint32_t insn = cfg_insn_at(g, target);
        if (insn == CFG_NONE)
            break;
        vec_push(out, insn);
    }
    return out->len;
}
