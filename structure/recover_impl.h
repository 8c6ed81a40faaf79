/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to recovery (recover.c), which structure.c uses for addresses, and whole.c for all of a binary. */
#ifndef HQ_STRUCTURE_RECOVER_IMPL_H
#define HQ_STRUCTURE_RECOVER_IMPL_H

#include "common/vec.h"
#include "structure/book.h"
#include "structure/image.h"
#include "structure/noreturn.h"
#include "structure/procedure.h"
#include "structure/structure.h"

struct wanted {
    uint64_t address;
    uint32_t index;     /* in the caller's array */
    uint32_t unit;      /* that describes it, DWARF_NONE */
    uint32_t procedure; /* of the book, STRUCTURE_NONE: not yet recovered */
};

struct work {
    struct image image;
    struct noreturn noreturn;
    const struct structure_options *options;
    struct book book;
    struct wanted *wanted;
    size_t count;
    struct map done[2];  /* entry -> procedure of the book; described by debug information, or not */
    struct map regions;  /* of code that it does not describe (see region_key) -> procedure of the book */
    VEC(uint32_t) plain; /* wanted that the debug information does not describe */
};

/* Recovers a procedure unless the book has it already; returns its number there. */
uint32_t recover_procedure(struct work *w, const struct procedure *p);
/* Returns the number of the unit that describes an address, DWARF_NONE if none does. */
uint32_t recover_find_unit(struct work *w, uint64_t address);
/* Recovers a wanted address that the debug information does not describe. */
void recover_plain(struct work *w, struct wanted *at);
/* Recovers all that is wanted and not in the book; reorders w->wanted. */
void recover_all(struct work *w);
/* Returns the piece of a procedure that an address lies in. */
const struct book_segment *recover_segment_at(const struct book *b, const struct book_procedure *p, uint64_t address);
/* Returns the sentence for structure.note, NULL if there is none; to be freed. */
char *recover_note(const struct work *w);
void recover_deinit(struct work *w);

#endif
