/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processor that unwinding is compiled for, a folder for each. What its registers.h defines:
 *
 *   CFI_FP CFI_SP CFI_PC   DWARF's numbers of the frame pointer, the stack pointer and the program counter; where DWARF
 *                          has none for the last, the next free one
 *   CFI_REGISTERS          how many there are, 64 at most
 *   CFI_RETURN             the column of the return address in call frame information
 *   CFI_LINKS              1: a call leaves the return address in a register, CFI_LINK, which is that column
 *   CFI_SIGNS              1: return addresses may be signed, and the information says where (DW_CFA_AARCH64_*)
 *   cfi_preserved()        does a call keep the register?
 *   CFI_WORD               bytes of an instruction that cfi_does_nothing() knows
 *   cfi_does_nothing()     does the instruction there change neither the stack nor where things are? Always false where
 *                          the information is right from the first instruction on
 */
#ifndef HQ_UNWIND_ARCH_ARCH_H
#define HQ_UNWIND_ARCH_ARCH_H

#if defined(__x86_64__)
#include "unwind/arch/x86_64/registers.h"
#elif defined(__aarch64__)
#include "unwind/arch/aarch64/registers.h"
#else
#error "hq knows the stacks of x86-64 and aarch64: doc/extending.md says what another processor needs"
#endif

/* A set of registers: a bit for each. */
#define CFI_BIT(number) (1ull << (number))

#endif
