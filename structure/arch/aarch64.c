/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aarch64 for structure recovery (arch.h). All instructions are of four bytes, so only those that control flow and
 * switches are made of need to be known. Source: Arm Architecture Reference Manual for A-profile, chapter C4 (A64
 * instruction set encoding).
 */
#include "structure/arch/arch.h"

#include <string.h>

enum { FP = 29, ZERO_OR_SP = 31, UNIT = 4 };

static uint32_t word_at(const uint8_t *code)
{
    uint32_t word;

    memcpy(&word, code, sizeof word);
    return word;
}

static uint64_t sign_extend(uint32_t value, unsigned bits)
{
    return (uint64_t)((int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits));
}

/* The distance in a branch: a field of instructions. */
static uint64_t distance(uint32_t word, unsigned at, unsigned bits)
{
    return sign_extend(word >> at & ((1u << bits) - 1), bits) * UNIT;
}

/* Unconditional branches to a register, also those that authenticate it. */
static enum insn_kind register_kind(uint32_t word)
{
    switch (word >> 21 & 7) {
    case 0: return INSN_JUMP_INDIRECT;
    case 1: return INSN_CALL_INDIRECT;
    default: return INSN_RETURN; /* ret, eret, drps */
    }
}

static void decode(const uint8_t *code, size_t size, uint64_t address, struct insn *out)
{
    *out = (struct insn){.address = address, .length = (uint8_t)(size < UNIT ? size : UNIT), .kind = INSN_STOP};
    if (size < UNIT)
        return;
    uint32_t word = word_at(code);

    if ((word & 0x7c000000) == 0x14000000) {
        out->kind = word >> 31 ? INSN_CALL : INSN_JUMP;
        out->target = address + distance(word, 0, 26);
    } else if ((word & 0xff000000) == 0x54000000) {
        out->kind = (word & 14) == 14 ? INSN_JUMP : INSN_BRANCH; /* b.al is always taken */
        out->target = address + distance(word, 5, 19);
    } else if ((word & 0x7e000000) == 0x34000000) {
        out->kind = INSN_BRANCH; /* cbz, cbnz */
        out->tests = true;
        out->target = address + distance(word, 5, 19);
    } else if ((word & 0x7e000000) == 0x36000000) {
        out->kind = INSN_BRANCH; /* tbz, tbnz */
        out->tests = true;
        out->target = address + distance(word, 5, 14);
    } else if ((word & 0xfe000000) == 0xd6000000) {
        out->kind = (uint8_t)register_kind(word);
    } else if (word == 0xd503201f) {
        out->kind = INSN_NOP;
    } else if ((word & 0xffe0001f) != 0xd4200000 && (word & 0xffe0001f) != 0xd4400000 && word >> 16) {
        out->kind = INSN_OTHER; /* no brk, hlt, udf */
    }
}

/* udiv and sdiv. */
static bool divides(const uint8_t *code, size_t size)
{
    return size >= UNIT && (word_at(code) & 0x7fe0f800) == 0x1ac00800;
}

static uint8_t number(uint32_t field)
{
    return (field & 31) == ZERO_OR_SP ? INSN_NO_REGISTER : field & 31;
}

/* ldrb, ldrh, ldr, ldrsb, ... of a general register from base + index, and from base + immediate. */
static bool detail_load(uint32_t word, struct insn_detail *d)
{
    unsigned size = word >> 30, kind = word >> 22 & 3;

    if (word >> 26 & 1 || kind == 0)
        return false;
    if ((word & 0x3b200c00) == 0x38200800) {
        d->index = number(word >> 16);
        d->scale = (uint8_t)(word >> 12 & 1 ? 1 << size : 1);
    } else if ((word & 0x3b000000) == 0x39000000) {
        d->value = (uint64_t)(word >> 10 & 4095) << size;
    } else {
        return false;
    }
    d->form = INSN_FORM_LOAD;
    d->base = number(word >> 5);
    d->width = (uint8_t)(1 << size);
    d->is_signed = kind >= 2;
    return true;
}

/* adr, adrp, mov, add and cmp with an immediate. */
static bool detail_immediate(uint32_t word, uint64_t address, struct insn_detail *d)
{
    uint64_t immediate = (uint64_t)(word >> 10 & 4095) << (word >> 22 & 1 ? 12 : 0);

    if ((word & 0x1f000000) == 0x10000000) {
        uint64_t far = sign_extend((word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3), 21);

        d->form = INSN_FORM_ADDRESS;
        d->relative = true;
        d->value = word >> 31 ? (address & ~4095ull) + far * 4096 : address + far;
    } else if ((word & 0x7f800000) == 0x52800000) {
        d->form = INSN_FORM_ADDRESS;
        d->value = (uint64_t)(word >> 5 & 0xffff) << (word >> 21 & 3) * 16;
    } else if ((word & 0x7f800000) == 0x11000000) {
        d->form = INSN_FORM_ADD_VALUE;
        d->source = number(word >> 5);
        d->value = immediate;
    } else if ((word & 0x7f80001f) == 0x7100001f) {
        d->form = INSN_FORM_COMPARE;
        d->reg = number(word >> 5);
        d->value = immediate;
    } else {
        return false;
    }
    return true;
}

/* mov and add of registers. */
static bool detail_registers(uint32_t word, struct insn_detail *d)
{
    d->source = number(word >> 16);
    d->base = number(word >> 5);
    if ((word & 0x7fe0ffe0) == 0x2a0003e0) {
        d->form = INSN_FORM_COPY;
        d->base = INSN_NO_REGISTER;
    } else if ((word & 0x7fe00000) == 0x0b000000) {
        d->form = INSN_FORM_ADD_SCALED;
        d->scale = (uint8_t)(1u << (word >> 10 & 7));
    } else if ((word & 0x7fe00000) == 0x0b200000) {
        d->form = INSN_FORM_ADD_SCALED;
        d->scale = (uint8_t)(1u << (word >> 10 & 7));
        d->is_signed = word >> 15 & 1;
    } else {
        d->source = d->base = INSN_NO_REGISTER;
        return false;
    }
    return true;
}

/* Does it write the register in its lowest field? Loads, arithmetic. */
static bool writes(uint32_t word)
{
    unsigned group = word >> 25 & 15;

    if ((group & 14) == 8 || (group & 7) == 5)
        return true;
    return (group & 5) == 4 && !(word >> 26 & 1) && (word >> 22 & 3);
}

/* The general registers that an instruction may write; of stores and vectors more than it does. */
static uint32_t written(uint32_t word)
{
    uint32_t rd = 1u << (word & 31), rn = 1u << (word >> 5 & 31), second = 1u << (word >> 10 & 31),
             rs = 1u << (word >> 16 & 31), vector = word >> 26 & 1, set = 0;

    if ((word >> 25 & 5) != 4) {
        set = rd;
    } else if ((word & 0x3a000000) == 0x28000000) { /* pairs */
        set = (vector ? 0 : rd | second) | (word >> 23 & 1 ? rn : 0);
    } else if ((word & 0x3f000000) == 0x08000000 || (word & 0x3b200c00) == 0x38200000) { /* exclusive, atomic */
        set = rd | second | rs;
    } else {
        bool back = (word & 0x3b200400) == 0x38000400 || ((word & 0xbe800000) == 0x0c800000);

        set = (vector ? 0 : rd) | (back ? rn : 0);
    }
    return set & ~(1u << ZERO_OR_SP);
}

static void decode_detail(const uint8_t *code, size_t size, uint64_t address, struct insn_detail *out)
{
    *out = (struct insn_detail){.form = INSN_FORM_OTHER,
                                .reg = INSN_NO_REGISTER,
                                .source = INSN_NO_REGISTER,
                                .base = INSN_NO_REGISTER,
                                .index = INSN_NO_REGISTER};
    if (size < UNIT)
        return;
    uint32_t word = word_at(code);
    struct insn insn;

    decode(code, size, address, &insn);
    out->relative = insn.target != 0;
    out->clobbers = insn.kind == INSN_CALL || insn.kind == INSN_CALL_INDIRECT;
    if (insn.kind == INSN_OTHER)
        out->writes = written(word);
    if (insn.kind == INSN_JUMP_INDIRECT || insn.kind == INSN_CALL_INDIRECT) {
        out->form = INSN_FORM_JUMP_REGISTER;
        out->reg = number(word >> 5);
        return;
    }
    if (insn.kind != INSN_OTHER || !writes(word))
        return;
    out->reg = number(word);
    if (!detail_immediate(word, address, out) && !detail_registers(word, out))
        detail_load(word, out);
}

static bool keeps(uint8_t reg)
{
    return reg >= 19 && reg <= FP;
}

/* adrp x16; ldr x17, [x16, #slot]; add x16; br x17: with branch protection behind bti, and with padding. */
static size_t stub(const uint8_t *code, size_t size, uint64_t address, uint64_t *slot)
{
    uint64_t page = 0;

    *slot = 0;
    for (size_t at = 0; at + UNIT <= size; at += UNIT) {
        uint32_t word = word_at(code + at);
        struct insn_detail d;

        decode_detail(code + at, UNIT, address + at, &d);
        if ((word & 0x9f00001f) == 0x90000010)
            page = d.value;
        else if ((word & 0xffc003ff) == 0xf9400211 && page)
            *slot = page + d.value;
        else if (word == 0xd61f0220)
            return at + UNIT;
    }
    return size;
}

static bool is_trap(const uint8_t *code)
{
    return word_at(code) == 0 || word_at(code) == 0xd4200020; /* udf #0, brk #1 */
}

/* paciasp, bti c, a frame record that is made, or room on the stack. */
static bool has_prologue(const uint8_t *code)
{
    uint32_t word = word_at(code);

    return word == 0xd503233f || word == 0xd503245f || (word & 0xffc07fff) == 0xa9807bfd ||
           (word & 0xff8003ff) == 0xd10003ff;
}

static bool is_no_code(const uint8_t *code, const struct insn *insn)
{
    return insn->length < UNIT || (word_at(code) >> 16 == 0 && word_at(code));
}

const struct arch arch_aarch64 = {
    .machine = EM_AARCH64,
    .decode = decode,
    .decode_detail = decode_detail,
    .divides = divides,
    .argument = 0,
    .keeps = keeps,
    .jump_slot = R_AARCH64_JUMP_SLOT,
    .glob_dat = R_AARCH64_GLOB_DAT,
    .irelative = R_AARCH64_IRELATIVE,
    .stub = stub,
    .unit = UNIT,
    .is_trap = is_trap,
    .has_prologue = has_prologue,
    .is_no_code = is_no_code,
};
