/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Debug information as plain data. This header hides libdwarf: no other file of the project includes its headers
 * (except the dwarf_*.c files behind this one), so another version or another reader changes nothing else.
 *
 * A struct dwarf belongs to one thread. Texts live as long as it; a unit until dwarf_unit_free. Descriptions that
 * cannot be read are left out; dwarf_problem() says in one clause what they were.
 */
#ifndef HQ_STRUCTURE_DWARF_DWARF_H
#define HQ_STRUCTURE_DWARF_DWARF_H

#include "common/intern.h"
#include "structure/elf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DWARF_NONE UINT32_MAX

struct dwarf;

struct dwarf_range {
    uint64_t low, high; /* [low, high) */
};

/* The names of a procedure and the place of its definition. */
struct dwarf_origin {
    const char *name;      /* as in the source, NULL if unnamed */
    const char *linkage;   /* symbol name, NULL if it is the same */
    const char *qualified; /* C++, Fortran without a symbol name: the name with those of what it lies in; else NULL */
    uint32_t file;         /* in dwarf_files(), 0 unknown */
    uint32_t line;
    bool noreturn;
};

struct dwarf_procedure {
    struct dwarf_origin origin;
    uint64_t entry;
    uint32_t first_range, range_count;   /* in unit->ranges, as the compiler gave them, not empty */
    uint32_t first_inline, inline_count; /* in unit->inlines */
    uint32_t first_block, block_count;   /* in unit->blocks */
};

/* A block of a parallel region (of gcc's, see dwarf_is_region) with a variable of its own, not of what was inlined. */
struct dwarf_block {
    uint32_t first_range, range_count;
    uint32_t declared; /* the least line that a variable of it is declared in */
};

struct dwarf_inline {
    uint32_t parent; /* index in unit->inlines, DWARF_NONE: the procedure itself; parents come first */
    const struct dwarf_origin *origin;
    uint32_t call_file, call_line;
    uint32_t first_range, range_count;
};

struct dwarf_row { /* valid from address up to that of the next row */
    uint64_t address;
    uint32_t file; /* in dwarf_files() */
    uint32_t line;
    bool end;        /* nothing is known from here on */
    bool begins;     /* a statement of this line begins here; else code of one that begins elsewhere */
    uint16_t column; /* where that statement begins in its line, 0: unknown */
    uint32_t least;  /* smallest line, of the same file, among the rows of the table at this address: statements that
                        have no code of their own are told there */
};

struct dwarf_unit {
    struct dwarf_procedure *procedures;
    struct dwarf_inline *inlines;
    struct dwarf_block *blocks;
    struct dwarf_range *ranges;
    struct dwarf_row *rows;   /* sorted by address; at most one per address, the last one of the table */
    struct dwarf_row *hidden; /* ascending: where statements begin that another row of the same address hides */
    size_t procedure_count, inline_count, range_count, row_count, hidden_count;
    bool cplusplus;        /* the language of its sources */
    const char **noreturn; /* linkage names of procedures that this unit declares as not returning */
    size_t noreturn_count;
};

/*
 * `debug` holds the .debug_ sections (the binary itself or a separate file), `text` the code (its segments decide which
 * ranges are real). NULL in *out, without an error, if there is no debug information. `alt` is dwz's common file or
 * NULL. None of them may be closed before dwarf_close.
 */
/* load.c */
struct hq_error *dwarf_open(struct elf *text, struct elf *debug, struct elf *alt, struct dwarf **out);
void dwarf_close(struct dwarf *d);

/* Compilation units are numbered 0 .. count-1 in the order of the file. */
size_t dwarf_unit_count(struct dwarf *d); /* units.c */
/* The unit that describes an address: the first that claims it, DWARF_NONE if none does. */
uint32_t dwarf_find_unit(struct dwarf *d, uint64_t address);
void dwarf_load_unit(struct dwarf *d, uint32_t unit, struct dwarf_unit *out); /* load.c */
void dwarf_unit_free(struct dwarf_unit *unit);
/* The body of a parallel region is a procedure of its own; of gcc's only the name says so. */
bool dwarf_is_region(const struct dwarf_origin *origin);

/*
 * Calls fn for every procedure that is defined, with or without code of its own: its name in the source and for the
 * linker, either may be NULL. Reads all units; for a struct dwarf that serves nothing else.
 */
typedef void dwarf_name_fn(void *arg, const char *name, const char *linkage);
void dwarf_names(struct dwarf *d, dwarf_name_fn *fn, void *arg); /* known.c */

/* Paths as compiled, made absolute with the compilation directory. Number 0 is "". */
const struct intern *dwarf_files(const struct dwarf *d); /* load.c */
/* A file of split debug information that was changed since it was opened, or NULL. */
const struct elf *dwarf_changed(const struct dwarf *d); /* split.c */
/* NULL if all could be read, else a clause such as "split debug information X.dwo is missing". */
const char *dwarf_problem(const struct dwarf *d); /* load.c */

#endif
