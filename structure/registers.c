/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls and jumps through registers that hold the address of one procedure on all ways to them: where code is made
 * without linkage stubs (-fno-plt), clang reads a slot of the loader's once for several calls, and aarch64's code has
 * no other way. A forward analysis of constants; at the entry and at landing pads nothing is known.
 */
#include "structure/arch/arch.h"
#include "structure/cfg.h"
#include "structure/range.h"
#include <stdlib.h>
#include <string.h>

enum { REGISTERS = 32, ROUNDS = 64 };

enum value_kind { VALUE_UNSEEN, VALUE_ADDRESS, VALUE_SLOT, VALUE_UNKNOWN };

struct value {
    enum value_kind kind;
    uint64_t address; /* of SLOT: that of the slot whose content it is */
};

struct state {
    struct value of[REGISTERS];
};

struct analysis {
    const struct image *image;
    const struct arch *arch;
    struct cfg *g;
    struct insn_detail *details; /* of each instruction */
    struct state *in;            /* of each block */
};

static bool is_register(uint8_t reg)
{
    return reg < REGISTERS;
}

/* mov slot(%rip), %reg. */
static bool reads_slot(const struct image *image, const struct insn *in, const uint8_t *code)
{
    int32_t distance;

    if (in->length != 7 || (code[0] & 0xfb) != 0x48 || code[1] != 0x8b || (code[2] & 0xc7) != 5)
        return false;
    memcpy(&distance, code + 3, sizeof distance);
    return range_find(&image->plt.slots, in->address + in->length + (uint64_t)(int64_t)distance);
}

/* Whether there is anything to be found: it is rare, and the analysis costs more than all the rest. */
static bool is_worth(const struct image *image, const struct cfg *g)
{
    bool calls = false, reads = image->text->machine != EM_X86_64;

    if (!image->plt.slots.len)
        return false;
    vec_foreach(in, &g->insns) {
        size_t size;
        const uint8_t *code = NULL;

        if (in->kind == INSN_CALL_INDIRECT || in->kind == INSN_JUMP_INDIRECT)
            calls |= in->length <= 4;
        else if (in->kind == INSN_OTHER && in->length == 7 && !reads)
            code = elf_at(image->text, in->address, &size);
        reads |= code && size >= in->length && reads_slot(image, in, code);
    }
    return calls && reads;
}

static struct value sum(struct value a, uint64_t more)
{
    a.address += more;
    return a.kind == VALUE_ADDRESS ? a : (struct value){VALUE_UNKNOWN, 0};
}

/* The value that an instruction gives the register that it is for. */
static struct value result(const struct analysis *a, const struct state *s, const struct insn_detail *d)
{
    struct value unknown = {VALUE_UNKNOWN, 0}, base = {VALUE_ADDRESS, 0};

    switch (d->form) {
    case INSN_FORM_ADDRESS: return (struct value){VALUE_ADDRESS, d->value};
    case INSN_FORM_COPY: return is_register(d->source) ? s->of[d->source] : unknown;
    case INSN_FORM_ADD_VALUE: return is_register(d->source) ? sum(s->of[d->source], d->value) : unknown;
    case INSN_FORM_LOAD:
        if (d->width != sizeof(uint64_t) || d->index != INSN_NO_REGISTER)
            return unknown;
        if (is_register(d->base))
            base = s->of[d->base];
        base = sum(base, d->value);
        if (base.kind != VALUE_ADDRESS || !range_find(&a->image->plt.slots, base.address))
            return unknown;
        return (struct value){VALUE_SLOT, base.address};
    default: return unknown;
    }
}

static void step(const struct analysis *a, struct state *s, const struct insn_detail *d)
{
    struct value own = is_register(d->reg) ? result(a, s, d) : (struct value){VALUE_UNKNOWN, 0};

    for (uint8_t reg = 0; reg < REGISTERS; reg++)
        if (d->writes >> reg & 1 || (d->clobbers && !a->arch->keeps(reg)))
            s->of[reg] = (struct value){VALUE_UNKNOWN, 0};
    if (is_register(d->reg) && d->writes >> d->reg & 1)
        s->of[d->reg] = own;
}

/* Returns whether the state became poorer. */
static bool meet(struct state *into, const struct state *with)
{
    bool changed = false;

    for (uint8_t reg = 0; reg < REGISTERS; reg++) {
        struct value *x = &into->of[reg];
        const struct value *y = &with->of[reg];

        if (y->kind == VALUE_UNSEEN || x->kind == VALUE_UNKNOWN || (x->kind == y->kind && x->address == y->address))
            continue;
        *x = x->kind == VALUE_UNSEEN ? *y : (struct value){VALUE_UNKNOWN, 0};
        changed = true;
    }
    return changed;
}

static void forget(struct state *s)
{
    for (uint8_t reg = 0; reg < REGISTERS; reg++)
        s->of[reg] = (struct value){VALUE_UNKNOWN, 0};
}

/* Follows a block; `found`: where targets that are known are put into the instructions, NULL: nowhere. */
static void follow(const struct analysis *a, const struct cfg_block *block, struct state *s, bool *found)
{
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct insn_detail *d = &a->details[i];
        struct insn *in = &a->g->insns.data[i];
        bool call = in->kind == INSN_CALL_INDIRECT;

        if (found && (call || in->kind == INSN_JUMP_INDIRECT) && d->form == INSN_FORM_JUMP_REGISTER &&
            is_register(d->reg)) {
            struct value v = s->of[d->reg];

            if (v.kind == VALUE_SLOT ||
                (call && v.kind == VALUE_ADDRESS && elf_executable_end(a->image->text, v.address))) {
                in->kind = call ? INSN_CALL : INSN_JUMP;
                in->target = v.address;
                *found = true;
            }
        }
        step(a, s, d);
    }
}

/* False: it takes too long. */
static bool settle(struct analysis *a)
{
    const struct cfg *g = a->g;

    for (int round = 0; round < ROUNDS; round++) {
        bool changed = false;

        vec_foreach(block, &g->blocks) {
            struct state s = a->in[block - g->blocks.data];

            follow(a, block, &s, NULL);
            for (uint32_t i = 0; i < block->successor_count; i++)
                changed |= meet(&a->in[g->successors.data[block->first_successor + i]], &s);
        }
        if (!changed)
            return true;
    }
    return false;
}

static void decode(struct analysis *a)
{
    for (uint32_t i = 0; i < a->g->insns.len; i++) {
        const struct insn *in = &a->g->insns.data[i];
        size_t size;
        const uint8_t *code = elf_at(a->image->text, in->address, &size);

        insn_decode_detail(a->image->text->machine, code, code ? in->length : 0, in->address, &a->details[i]);
    }
}

bool cfg_resolve_registers(const struct image *image, struct cfg *g, const struct landing_pads *pads)
{
    struct analysis a = {.image = image, .arch = arch_of(image->text->machine), .g = g};
    bool found = false;

    if (g->entry == CFG_NONE || !is_worth(image, g))
        return false;
    a.details = xcalloc(g->insns.len, sizeof *a.details);
    a.in = xcalloc(g->blocks.len, sizeof *a.in);
    decode(&a);
    forget(&a.in[g->entry]);
    for (uint32_t i = 0; i < g->blocks.len; i++)
        vec_foreach(pad, pads)
            if (pad->pad == g->insns.data[g->blocks.data[i].first].address)
                forget(&a.in[i]);
    if (settle(&a))
        vec_foreach(block, &g->blocks) {
            struct state s = a.in[block - g->blocks.data];

            follow(&a, block, &s, &found);
        }
    free(a.details);
    free(a.in);
    return found;
}
