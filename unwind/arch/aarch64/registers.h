/* SPDX-License-Identifier: BSD-3-Clause */
/* aarch64 for unwinding (arch.h): DWARF's numbers of the processor's registers (DWARF for the Arm 64-bit Architecture,
 * section 4.1). */
#ifndef HQ_UNWIND_ARCH_AARCH64_REGISTERS_H
#define HQ_UNWIND_ARCH_AARCH64_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

enum { CFI_FP = 29, CFI_LINK = 30, CFI_SP = 31, CFI_PC = 32, CFI_REGISTERS = 33 };
enum { CFI_RETURN = CFI_LINK, CFI_LINKS = 1, CFI_SIGNS = 1, CFI_WORD = 4 };

static inline bool cfi_preserved(unsigned number)
{
    return number >= 19 && number <= CFI_SP;
}

/* A hint: a landing pad, nop, or one that signs the return address. */
static inline bool cfi_does_nothing(uint64_t address)
{
    uint32_t word;

    __builtin_memcpy(&word, (const void *)address, sizeof word);
    return (word & 0xfffff01f) == 0xd503201f;
}

#endif
