/* SPDX-License-Identifier: BSD-3-Clause */
/* Instructions, reduced to what control flow needs, of the processors of structure/arch/ (EM_* of an ELF file). */
#ifndef HQ_STRUCTURE_INSN_H
#define HQ_STRUCTURE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
    INSN_OTHER,
    INSN_NOP,    /* padding */
    INSN_BRANCH, /* conditional, to target */
    INSN_JUMP,   /* to target */
    INSN_JUMP_INDIRECT,
    INSN_CALL, /* of target */
    INSN_CALL_INDIRECT,
    INSN_RETURN,
    INSN_STOP, /* traps and halts, and bytes that are no instruction */
};

struct insn {
    uint64_t address, target; /* target: of direct branches, jumps and calls */
    uint8_t length;           /* at least 1 */
    uint8_t kind;
    bool tests; /* a branch that tests a register by itself: nothing is compared in front of it */
};

struct insns {
    struct insn *data;
    size_t len, cap;
};

/* Decodes the instruction at `code`, of which `size` >= 1 bytes may be read (arch/arch.c). */
void insn_decode(uint16_t machine, const uint8_t *code, size_t size, uint64_t address, struct insn *out);

/* Whether it divides integers. */
bool insn_divides(uint16_t machine, const uint8_t *code, size_t size);

/* The forms of instructions that compute the targets of jump tables. Registers have the processor's numbers; 32-bit
 * writes count as writes of the whole register. */
#define INSN_NO_REGISTER 255
enum insn_form {
    INSN_FORM_OTHER,
    INSN_FORM_ADDRESS,       /* lea displacement(%rip), reg: value is the address */
    INSN_FORM_COPY,          /* mov source, reg */
    INSN_FORM_ADD,           /* add source, reg */
    INSN_FORM_ADD_SCALED,    /* reg = base + source * scale */
    INSN_FORM_ADD_VALUE,     /* reg = source + value */
    INSN_FORM_LOAD,          /* mov or movslq displacement(base, index, scale), reg; width bytes */
    INSN_FORM_STORE,         /* mov source, displacement(base) */
    INSN_FORM_COMPARE,       /* cmp $value, reg, or memory: reg is none then */
    INSN_FORM_SUBTRACT,      /* sub $value, reg */
    INSN_FORM_MASK,          /* and $value, reg */
    INSN_FORM_JUMP_REGISTER, /* jmp *reg, call *reg */
    INSN_FORM_JUMP_MEMORY,   /* jmp *displacement(base, index, scale) */
};
struct insn_detail {
    enum insn_form form;
    uint8_t reg, source; /* reg: what is written (compared, jumped to); for OTHER the first register written */
    uint8_t base, index, scale, width;
    bool is_signed;          /* what is loaded, or added and scaled, is extended by its sign */
    uint64_t value;          /* immediate, displacement or address */
    uint64_t displacement;   /* of memory, where there is an immediate, too */
    uint32_t writes;         /* a bit for each register that it may write, those that a call clobbers left out */
    bool clobbers;           /* a call: the caller-saved registers are lost */
    bool relative;           /* it depends on where it stands */
    uint8_t displacement_at; /* where in it the four bytes lie that are a distance of memory from its end; 0: none do */
};
void insn_decode_detail(uint16_t machine, const uint8_t *code, size_t size, uint64_t address, struct insn_detail *out);

#endif
