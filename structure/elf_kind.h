/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are no x86-64 programs or libraries: a sentence on what they are. */
#ifndef HQ_STRUCTURE_ELF_KIND_H
#define HQ_STRUCTURE_ELF_KIND_H

#include "structure/elf.h"

/* NULL if the bytes begin with the header of an x86-64 ELF file, which is then copied out. */
struct hq_error *elf_check_kind(const char *path, const uint8_t *data, size_t size, Elf64_Ehdr *header);
/* NULL if it is a program, library or separate debug file. (Files of dwz and of split debug information are object
 * files.) */
struct hq_error *elf_check_linked(const struct elf *elf);

#endif
