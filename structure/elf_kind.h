/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are no programs or libraries of a processor that is known: a sentence on what they are. */
#ifndef HQ_STRUCTURE_ELF_KIND_H
#define HQ_STRUCTURE_ELF_KIND_H

#include "structure/elf.h"

/* NULL if the bytes begin with the header of an ELF file for x86-64 or aarch64, which is then copied out. */
struct hq_error *elf_check_kind(const char *path, const uint8_t *data, size_t size, Elf64_Ehdr *header);
/* NULL if it is a program, library or separate debug file. (Files of dwz and of split debug information are object
 * files.) */
struct hq_error *elf_check_linked(const struct elf *elf);

#endif
