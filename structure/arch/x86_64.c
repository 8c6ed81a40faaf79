/* SPDX-License-Identifier: BSD-3-Clause */
/* x86-64 for structure recovery (arch.h). Its instructions are those of a decoder: insn_zydis.c or insn_capstone.c. */
#include "structure/arch/arch.h"
#include "structure/arch/x86_64.h"

#include <string.h>

enum { RBX = 3, RSP, RBP, RDI = 7, R12 = 12, TRAP = 0xcc, HALT = 0xf4 };

static bool keeps(uint8_t reg)
{
    return reg == RBX || reg == RSP || reg == RBP || reg >= R12;
}

/* div and idiv of 4 or 8 bytes. */
static bool divides(const uint8_t *code, size_t size)
{
    size_t at = size > 1 && *code >> 4 == 4; /* rex */

    return size > at + 1 && code[at] == 0xf7 && (code[at + 1] >> 3 & 6) == 6;
}

static bool is_trap(const uint8_t *code)
{
    return *code == TRAP;
}

/* endbr64, push, or sub from %rsp. */
static bool has_prologue(const uint8_t *p)
{
    if (p[0] == 0x41)
        return p[1] >> 3 == 0x50 >> 3;
    return p[0] >> 3 == 0x50 >> 3 || !memcmp(p, "\xf3\x0f\x1e\xfa", 4) || !memcmp(p, "\x48\x83\xec", 3) ||
           !memcmp(p, "\x48\x81\xec", 3);
}

static bool is_no_code(const uint8_t *code, const struct insn *insn)
{
    return insn->length == 1 && *code != TRAP && *code != HALT;
}

const struct arch arch_x86_64 = {
    .machine = EM_X86_64,
    .decode = x86_64_decode,
    .decode_detail = x86_64_decode_detail,
    .divides = divides,
    .argument = RDI,
    .keeps = keeps,
    .jump_slot = R_X86_64_JUMP_SLOT,
    .glob_dat = R_X86_64_GLOB_DAT,
    .irelative = R_X86_64_IRELATIVE,
    .unit = 1,
    .is_trap = is_trap,
    .has_prologue = has_prologue,
    .is_no_code = is_no_code,
};
