/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recovered procedures, each complete: what structure_recover() takes its answers from, and what the cache stores.
 * Scopes have the form of structure.h, and texts are numbers of book.strings.
 */
#ifndef HQ_STRUCTURE_BOOK_H
#define HQ_STRUCTURE_BOOK_H

#include "common/map.h"
#include "structure/dwarf/dwarf.h"
#include "structure/structure.h"

struct book_segment { /* [low, high) within one statement */
    uint64_t low, high;
    uint32_t raw, normal; /* LINE scopes */
};

struct book_procedure {
    uint64_t entry;
    uint32_t scope;
    uint32_t first_segment, segment_count; /* ascending; they cover the procedure */
    bool described;                        /* by debug information */
    bool storable; /* every address in its segments belongs to it: it may be found by address alone */
};

struct book_source { /* a source that a loop's line may be taken from */
    uint32_t path;
    uint64_t state; /* sources_state() */
};

struct book {
    struct intern strings;
    VEC(struct structure_scope) scopes;
    VEC(uint32_t) aliases;
    VEC(struct book_segment) segments;
    VEC(struct book_procedure) procedures;
    VEC(struct book_source) sources; /* each path once */
    struct map source_of;            /* path -> index */
    struct keymap keys;              /* identity of a scope -> index */
    uint32_t long_names;             /* symbols that stand for too much text to be written out */
};

void book_init(struct book *b);
void book_deinit(struct book *b);

/*
 * The scope of this identity: same kind, parent, names, file, line, call site, ordinal and address. A new one gets
 * these values; its alias fields are kept for the caller to fill. How many loops a procedure has is known later than
 * the procedure, and no part of what it is.
 */
uint32_t book_scope(struct book *b, const struct structure_scope *scope, bool *is_new);

/* Notes that recovery looked for a source. */
void book_source(struct book *b, const char *path, uint64_t state);

/* Gives `out`, whose places are numbers of the book's scopes, the scopes that they need, in the order of the book
 * (parents stay before children), with the book's texts and aliases. */
void book_take(struct book *b, struct structure *out);

#endif
