/* SPDX-License-Identifier: BSD-3-Clause */
/* The properties of a processor that structure recovery uses, one file and one row of machines.def for each processor.
 * They work on any binary, wherever hq runs. */
#ifndef HQ_STRUCTURE_ARCH_ARCH_H
#define HQ_STRUCTURE_ARCH_ARCH_H

#include "structure/insn.h"

#include <elf.h>

struct arch {
    uint16_t machine; /* EM_* */
    void (*decode)(const uint8_t *code, size_t size, uint64_t address, struct insn *out);
    void (*decode_detail)(const uint8_t *code, size_t size, uint64_t address, struct insn_detail *out);
    bool (*divides)(const uint8_t *code, size_t size); /* integers */
    uint8_t argument;                                  /* the register of a call's first argument */
    bool (*keeps)(uint8_t reg);                        /* does a call preserve a register? */
    uint32_t jump_slot, glob_dat;                      /* relocations that name what a linkage stub jumps to, */
    uint32_t irelative;                                /* or what finds it */
    /* How long the linkage stub at `code` is, and the address of the word that it jumps through, 0: none. NULL: stubs
     * have one size, and plt.c knows their forms. */
    size_t (*stub)(const uint8_t *code, size_t size, uint64_t address, uint64_t *slot);
    /* Between procedures (gap.h): a unit of code, of which two traps are padding; what hardly anything but a procedure
     * begins with; bytes that are no instruction, although they decode as INSN_STOP. */
    uint8_t unit;
    bool (*is_trap)(const uint8_t *code);
    bool (*has_prologue)(const uint8_t *code); /* of 4 bytes */
    bool (*is_no_code)(const uint8_t *code, const struct insn *insn);
};

/* Returns the processor of ELF files for the machine (EM_*); x86-64 where there is none, which elf_kind.h does not let
 * through. */
const struct arch *arch_of(uint16_t machine);

#define MACHINE(number, file, name) extern const struct arch arch_##file;
#include "structure/arch/machines.def"
#undef MACHINE

#endif
