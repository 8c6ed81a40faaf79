/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/arch/arch.h"

const struct arch *arch_of(uint16_t machine)
{
    static const struct arch *const known[] = {
#define MACHINE(number, file, name) &arch_##file,
#include "structure/arch/machines.def"
#undef MACHINE
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i]->machine == machine)
            return known[i];
    return &arch_x86_64;
}

void insn_decode(uint16_t machine, const uint8_t *code, size_t size, uint64_t address, struct insn *out)
{
    arch_of(machine)->decode(code, size, address, out);
}

void insn_decode_detail(uint16_t machine, const uint8_t *code, size_t size, uint64_t address, struct insn_detail *out)
{
    arch_of(machine)->decode_detail(code, size, address, out);
}

bool insn_divides(uint16_t machine, const uint8_t *code, size_t size)
{
    return arch_of(machine)->divides(code, size);
}
