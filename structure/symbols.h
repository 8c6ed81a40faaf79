/* SPDX-License-Identifier: BSD-3-Clause */
/* The procedures that the symbol tables name, by address. Names live as long as the ELF files they were read from. */
#ifndef HQ_STRUCTURE_SYMBOLS_H
#define HQ_STRUCTURE_SYMBOLS_H

#include "structure/elf.h"

struct symbol { /* all names at one address */
    uint64_t address;
    uint64_t end;          /* address + the largest size; == address if no name has a size */
    uint64_t reach;        /* largest end of this and all earlier symbols */
    uint32_t first, count; /* names, the best first */
};

/* One of the names that stand for one of several procedures (STT_GNU_IFUNC); at one address they mean the same. */
struct symbol_chosen {
    uint64_t address; /* of the code that chooses */
    const char *name;
    const char *bare; /* what is compared: without underscores and the like */
    size_t bare_len;
};

struct symbols {
    struct symbol *list; /* ascending address */
    size_t count;
    const char **names; /* may end at '@' (symbol version): compare with symbol_name_length */
    size_t name_count;
    struct symbol_chosen *chosen; /* ascending address */
    size_t chosen_count;
    bool exported; /* the exported ones alone: neither file has a .symtab */
};

/* From .symtab and .dynsym of both files (which may be one). */
void symbols_read(struct elf *text, struct elf *debug, struct symbols *out);
void symbols_deinit(struct symbols *s);

/* The symbol that starts at an address, or NULL. */
const struct symbol *symbols_at(const struct symbols *s, uint64_t address);
/* The innermost symbol with a size that covers an address, else the nearest one before it without a size; or NULL. */
const struct symbol *symbols_find(const struct symbols *s, uint64_t address);
/* The first symbol behind an address; NULL at the end. */
const struct symbol *symbols_after(const struct symbols *s, uint64_t address);

/*
 * The names that programs have for a procedure that is one of several of which the loader takes the one for the
 * processor: `memmove` for `__memmove_evex_unaligned_erms`, `f` for `f.avx2`. The next one from *at on, which begins
 * with 0; NULL: there is no other one. What is called by such a name is never the code at its address, which chooses.
 */
const char *symbols_chosen(const struct symbols *s, const char *procedure, size_t *at);
bool symbols_is_chosen(const struct symbols *s, const char *name);

/* Without the version that follows '@'. */
size_t symbol_name_length(const char *name);

#endif
