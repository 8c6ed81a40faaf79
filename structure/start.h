/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that a stripped program gives away by how it starts. */
#ifndef HQ_STRUCTURE_START_H
#define HQ_STRUCTURE_START_H

#include "structure/elf.h"

/*
 * "_start" for the entry of an executable, "main" for the procedure that _start hands to the C library in its first
 * argument (in the register that the processor's System V ABI says), else NULL.
 */
const char *start_name(const struct elf *text, uint64_t address);

#endif
