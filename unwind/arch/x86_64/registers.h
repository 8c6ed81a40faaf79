/* SPDX-License-Identifier: BSD-3-Clause */
/* x86-64 for unwinding (arch.h): DWARF's numbers of the processor's registers (System V ABI, figure 3.36). */
#ifndef HQ_UNWIND_ARCH_X86_64_REGISTERS_H
#define HQ_UNWIND_ARCH_X86_64_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

enum { CFI_RBX = 3, CFI_FP = 6, CFI_SP = 7, CFI_PC = 16, CFI_REGISTERS = 17 };
enum { CFI_RETURN = CFI_PC, CFI_LINKS = 0, CFI_SIGNS = 0, CFI_WORD = 1 };

static inline bool cfi_preserved(unsigned number)
{
    return number == CFI_RBX || number == CFI_FP || number == CFI_SP || number >= 12;
}

static inline bool cfi_does_nothing(uint64_t address)
{
    (void)address;
    return false;
}

#endif
