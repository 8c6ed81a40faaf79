/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control flow graph of one procedure, all of its parts included. Every byte is decoded from the start of each part
 * on (compilers put no data into it), so also code that is only reached through a jump we cannot follow has
 * blocks.
 *
 * Edges: branches, jumps within the procedure, jump tables, falling through (not behind a call that does not return),
 * and from the code that an exception can leave to its landing pad. A jump out of the procedure, also one to the start
 * of another, ends a path. A jump with unknown targets gets an edge to every block that nothing else reaches.
 */
#ifndef HQ_STRUCTURE_CFG_H
#define HQ_STRUCTURE_CFG_H

#include "common/vec.h"
#include "structure/insn.h"
#include "structure/noreturn.h"
#include "structure/procedure.h"

#define CFG_NONE UINT32_MAX

struct cfg_block {
    uint32_t first, count; /* instructions */
    uint32_t first_successor, successor_count;
};

struct cfg {
    struct insns insns;           /* ascending */
    VEC(struct cfg_block) blocks; /* ascending */
    VEC(uint32_t) successors;     /* block numbers, several times perhaps */
    uint32_t entry;               /* block, CFG_NONE if there is no code */
    uint32_t unresolved;          /* indirect jumps without a table */
};

/* The blocks and edges of the procedure's code. `noreturn` is asked which calls come back. Ended with cfg_deinit. */
void cfg_build(const struct image *image, const struct procedure *p, struct noreturn *noreturn, struct cfg *out);
void cfg_deinit(struct cfg *g);

/* Returns the number of the instruction that starts at an address, CFG_NONE if none does. */
uint32_t cfg_insn_at(const struct cfg *g, uint64_t address);

/*
 * Appends the targets of the indirect jump at instruction `jump` to `out`; false if its table cannot be found.
 * Compilers' switch statements: a bounded index, a table of addresses or of offsets from its own start. Only what lies
 * at the start of an instruction of the procedure is a target; the table ends at the bound or at the first entry that
 * does not.
 */
struct cfg_targets {
    uint32_t *data;
    size_t len, cap;
}; /* instruction numbers */
/* jumptable.c */
bool cfg_jump_table(const struct image *image, const struct cfg *g, uint32_t jump, struct cfg_targets *out);

/* Makes direct ones of calls and jumps through registers that hold one address whatever way led there: that of a
 * procedure, or what lies in a slot (plt.h). Returns whether there were any. registers.c */
bool cfg_resolve_registers(const struct image *image, struct cfg *g, const struct landing_pads *pads);

#endif
