/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lengths and kinds of the instructions that nearly all code consists of, several times faster than a whole decoder.
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and appendix A.
 */
#ifndef HQ_STRUCTURE_ARCH_INSN_QUICK_H
#define HQ_STRUCTURE_ARCH_INSN_QUICK_H

#include "structure/insn.h"

/* As x86_64_decode; false where it does not know, for the decoder to say. Bytes that no processor takes may pass for an
 * instruction. */
bool insn_quick(const uint8_t *code, size_t size, uint64_t address, struct insn *out);

#endif
