/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the procedure that an address belongs to. Debug information is asked first, then symbols, then .eh_frame, then
 * the linkage table; code that none of them knows is a procedure without a name between its neighbours. The answer for
 * an address does not depend on what was asked before.
 */
#ifndef HQ_STRUCTURE_PROCEDURE_H
#define HQ_STRUCTURE_PROCEDURE_H

#include "structure/image.h"
#include "structure/insn.h"

struct procedure {
    enum { PROCEDURE_DWARF, PROCEDURE_SYMBOL, PROCEDURE_STUB, PROCEDURE_FRAME, PROCEDURE_GAP } source;
    uint64_t entry;
    struct dwarf_range *ranges; /* ascending, disjoint, at least one; owned */
    size_t range_count;
    const struct dwarf_unit *unit; /* of PROCEDURE_DWARF; else NULL */
    const struct dwarf_procedure *dwarf;
    const struct symbol *symbol; /* that starts at the entry, or NULL */
    const char *stub;            /* name of PROCEDURE_STUB */
    struct insns decoded;        /* code of the part with the entry, if it had to be looked at already; owned */
};

/* Returns a procedure of a loaded unit: the one that holds an address (false if there is none), or number `index`. */
bool procedure_in_unit(const struct image *image, const struct dwarf_unit *unit, uint64_t address,
                       struct procedure *out);
void procedure_of_unit(const struct image *image, const struct dwarf_unit *unit, size_t index, struct procedure *out);
/* Finds the procedure of an address without debug information, with all of its parts. Always finds one. */
void procedure_plain(const struct image *image, uint64_t address, struct procedure *out); /* parts.c */
/* Like procedure_plain, but only the part around the address, as a procedure of one range. */
void procedure_region(const struct image *image, uint64_t address, struct procedure *out);
/* Whether no other procedure is known to begin inside it, so that all of its addresses are its own. */
bool procedure_is_alone(const struct image *image, const struct procedure *p);
/* Appends the instructions of [low, high). */
void procedure_decode(const struct image *image, uint64_t low, uint64_t high, struct insns *out);
/* Replaces the ranges of a procedure by copies of `from`, sorted, with overlaps merged. */
void procedure_set_ranges(struct procedure *p, const struct dwarf_range *from, size_t count);
void procedure_deinit(struct procedure *p);

#endif
