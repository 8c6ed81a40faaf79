/* SPDX-License-Identifier: BSD-3-Clause */
/* The decoder of x86-64's instructions, Zydis or Capstone, which only one file of this folder sees. */
#ifndef HQ_STRUCTURE_ARCH_X86_64_H
#define HQ_STRUCTURE_ARCH_X86_64_H

#include "structure/insn.h"

void x86_64_decode(const uint8_t *code, size_t size, uint64_t address, struct insn *out); /* insn_zydis.c */
void x86_64_decode_detail(const uint8_t *code, size_t size, uint64_t address, struct insn_detail *out);

#endif
