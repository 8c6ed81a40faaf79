/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Procedures in code that neither debug information nor symbols nor unwind information describe: programs that were
 * built without unwind tables and stripped. Where one begins is guessed from what compilers leave between procedures.
 * The answer for an address depends on the code within some 100 kB of it, so one address of 200 MB of such code costs
 * no more than one of a small program.
 *
 * A struct gaps remembers what was looked at; answers do not depend on that. It belongs to one thread.
 */
#ifndef HQ_STRUCTURE_GAP_H
#define HQ_STRUCTURE_GAP_H

#include "common/map.h"
#include "structure/dwarf/dwarf.h"
#include "structure/elf.h"

struct gaps {
    const struct elf *text;
    struct map boundaries; /* start of a chunk -> first sure start of a procedure in it, 0 if it has none */
    struct map regions;    /* start of a region -> its first procedure below */
    struct {
        struct dwarf_range *data;
        size_t len, cap;
    } procedures;
};

void gaps_init(struct gaps *g, const struct elf *text);
void gaps_deinit(struct gaps *g);

/* The procedure around an address of the gap [low, high), all of which must be executable. Padding belongs to the
 * procedure before it. */
struct dwarf_range gap_procedure(struct gaps *g, uint64_t low, uint64_t high, uint64_t address);
/* Whether there is more in a range than padding, and nothing that is no instruction (tables in the middle of code). */
bool gap_is_code(const struct gaps *g, struct dwarf_range range);

#endif
