/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/start.h"

#include "structure/arch/arch.h"

enum { MOST_INSTRUCTIONS = 24 };

/* The last address that _start puts into the register of a first argument before its first call; 0 if there is none. */
static uint64_t first_argument(const struct elf *text)
{
    uint64_t at = text->entry, argument = 0;
    uint8_t first = arch_of(text->machine)->argument;

    for (int i = 0; i < MOST_INSTRUCTIONS; i++) {
        size_t available;
        const uint8_t *code = elf_at(text, at, &available);
        struct insn insn;
        struct insn_detail detail;

        if (!code || !available)
            return 0;
        insn_decode(text->machine, code, available, at, &insn);
        if (insn.kind == INSN_CALL || insn.kind == INSN_CALL_INDIRECT)
            return argument;
        if (insn.kind != INSN_OTHER && insn.kind != INSN_NOP)
            return 0;
        insn_decode_detail(text->machine, code, available, at, &detail);
        if (detail.reg == first && detail.form == INSN_FORM_ADD_VALUE && detail.source == first && argument)
            argument += detail.value;
        else if (detail.reg == first)
            argument = detail.form == INSN_FORM_ADDRESS ? detail.value : 0;
        at += insn.length;
    }
    return 0;
}

const char *start_name(const struct elf *text, uint64_t address)
{
    if (!address || !text->entry)
        return NULL;
    if (address == text->entry)
        return "_start";
    return address == first_argument(text) ? "main" : NULL;
}
