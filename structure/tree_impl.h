/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to tree.c and loop_lines.c: a procedure while it is taken apart. */
#ifndef HQ_STRUCTURE_TREE_IMPL_H
#define HQ_STRUCTURE_TREE_IMPL_H

#include "common/vec.h"
#include "structure/tree.h"

struct piece {
    uint64_t low, high;
    uint32_t file, line; /* in dwarf_files(); 0 unknown */
    uint32_t least;      /* line of a statement without code at its start, or its own */
    uint32_t inlined;    /* canonical inline, DWARF_NONE: directly in the procedure */
    uint32_t loop;       /* LOOP_NONE */
    uint32_t row_loop;   /* the loop at the start of the row of the line table that tells its line; often `loop` */
    bool begins_row;     /* of the line table */
    bool begins;         /* a statement of this line begins in that row */
    bool calls;          /* a call begins in it */
    bool decides;        /* a conditional branch is in it */
};

struct loop_place {
    uint32_t context; /* the inline it belongs to */
    bool seen;
    uint32_t voice; /* loop_context.c */
    bool silent;    /* nothing speaks for it: all of its code counts */
    uint32_t file, line;
    uint32_t basis;             /* enum loop_basis */
    uint32_t first_file, first; /* of its code */
    uint32_t evidence;          /* what the line was taken from, LOOP_EVIDENCE_KINDS: the code alone */
    uint32_t least, most;       /* lines of its code, in the same file */
    uint32_t begun;             /* the least line of a statement that begins in it, in the same file; 0: none */
    uint32_t top;               /* the line that its code begins with, 0: another file's, or none */
    uint32_t told;   /* line of a statement without code that is told at its header, or that of the header's code */
    uint32_t opened; /* line that ends in the brace that its body begins with, 0: it does not, or unknown */
    uint32_t header_exit; /* the line of an exit in the header, 0: none */
    uint32_t header_to;   /* and of what it leads to */
    uint32_t exit;        /* the least line of an exit that neither is in the header nor goes round, 0: none */
    uint32_t back;        /* the least line of a jump back that decides nothing, 0: none */
    uint32_t back_to;     /* the line that an exit leads to that also goes round, of that of `line`; 0: unknown */
    uint32_t compared;    /* the line of the code right in front of that exit, 0: unknown */
};

#define BEGUN_ANYWHERE (DWARF_NONE - 1)

struct begun { /* where a statement begins */
    uint32_t file, line;
    uint32_t loop;    /* the innermost there */
    uint32_t inlined; /* canonical inline, BEGUN_ANYWHERE: unknown */
};

struct maker {
    struct book *b;
    const struct image *image;
    const struct procedure *p;
    const struct loops *loops;
    bool inlines;
    uint32_t scope;      /* of the procedure */
    uint32_t *canonical; /* inline of the procedure -> the first one of the same name and call site */
    uint32_t *depth;     /* of an inline: 1 directly in the procedure */
    VEC(uint64_t) cuts;
    VEC(struct piece) pieces;
    struct loop_place *places;
    VEC(struct begun) begun; /* by file and line; none without loops and inlined procedures */
    uint32_t origin;         /* of a parallel region: the line that its code begins with; else 0 */
    struct map chains;       /* (inline, loop) -> scope */
};

/* The first piece that begins at an address or behind it. */
size_t tree_piece_at(const struct maker *m, uint64_t address);
/* The line of a piece as the code of `context` sees it: its own, or that of the call that leads to it; 0: the piece
 * lies elsewhere. */
void tree_projected(const struct maker *m, const struct piece *piece, uint32_t context, uint32_t *file, uint32_t *line);
/* Finds the line of a piece as a loop around it sees it, 0 if the piece says nothing of that loop. */
void tree_line_in(const struct maker *m, const struct piece *piece, uint32_t loop, uint32_t *file, uint32_t *line);
/* Whether a loop is `outer` or lies in it. */
bool tree_lies_in(const struct maker *m, uint32_t loop, uint32_t outer);
/* Whether what is known of the line of a piece says anything of a loop around it. Code of no line does not, and neither
 * does code that has its line only because the code in front of the loop, in the same row of the line table, has it:
 * compilers make such code for no statement (the counters of vectorised loops). Calls always do. */
bool tree_speaks(const struct maker *m, const struct piece *piece, uint32_t loop);

/* The line that the procedure that code is said to be of is declared in, if it is of that file; 0: it is not, or
 * unknown.
 */
uint32_t tree_declared(const struct maker *m, uint32_t inlined, uint32_t file);
/* Sets the contexts of all places (loop_context.c). */
void tree_place_loops(struct maker *m);
uint32_t tree_inline_parent(const struct maker *m, uint32_t inlined); /* canonical ones; DWARF_NONE: the procedure */
uint32_t tree_common_inline(const struct maker *m, uint32_t a, uint32_t b);

/* Sets file and line of all places, whose contexts are known (loop_lines.c). */
void tree_name_loops(struct maker *m);
/* Sets them by the branches of each loop alone, the best one. */
void tree_name_by_branches(struct maker *m); /* loop_evidence.c */
/* Sets what else is known of the lines in each loop. */
void tree_note_lines(struct maker *m); /* loop_evidence.c */

/* ---- loop_beside.c ---- */

struct near_wanted {
    unsigned sides;      /* bits of enum loop_side */
    bool all;            /* not the branches alone: also what leads to them */
    uint32_t low, below; /* lines: above `low`, below `below` */
};

/* The line nearest above a loop among those of the places near it, 0: none. */
uint32_t tree_near_line(const struct maker *m, uint32_t loop, struct near_wanted want);
/* The first of the places near a loop. */
size_t tree_first_near(const struct maker *m, uint32_t loop);
/* Whether a line lies in the code of a loop that stands beside this one. */
bool tree_in_another(const struct maker *m, uint32_t line, uint32_t loop);

/* Whether code of the procedure has a line between these (loop_lines.c). */
bool tree_has_code_between(const struct maker *m, const struct loop_place *place, uint32_t low, uint32_t high);

/* ---- loop_share.c ---- */

bool tree_is_region(const struct maker *m);
/* Whether code takes a thread's share of a loop, as gcc has it: it asks for the number of the thread. */
bool tree_takes_share(const struct maker *m);
/* Whether any loop of the procedure is gone through in parts that the runtime gives. */
bool tree_has_parts(const struct maker *m);
/* Whether a loop deals out what its one inner loop goes through in such parts. `directive` is the line of the call that
 * asks for one. */
bool tree_deals_out(const struct maker *m, uint32_t loop, uint32_t *inner, uint32_t *directive);
/* All control statements of Fortran stand above what they repeat. */
bool tree_is_fortran(const struct maker *m, const struct loop_place *place);
/* Mends the lines of loops that have that of the directive by which threads share them. */
void tree_name_below_directives(struct maker *m);

/* Gives loops the line of their statement in the source, where that is at hand, and notes of all where their line is
 * from (loop_source.c). */
void tree_name_by_source(struct maker *m);

#endif
