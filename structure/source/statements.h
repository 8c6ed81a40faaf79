/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop statements of a source text: where each begins and ends, as a reader sees it. A scanner, no compiler: macros
 * are not expanded, and of the branches of a conditional (#if) that do not hold whole statements each only the first
 * counts. What it cannot make sense of has no loops. Pure functions of the text, which may hold anything.
 */
#ifndef HQ_STRUCTURE_SOURCE_STATEMENTS_H
#define HQ_STRUCTURE_SOURCE_STATEMENTS_H

#include "common/vec.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATEMENT_NONE UINT32_MAX

/* Lines are counted from 1. above <= first <= head <= end; told is in between. */
struct loop_statement {
    uint32_t above;  /* the first line of the directives right above it, or `first` */
    uint32_t first;  /* for, while, do */
    uint32_t head;   /* where its head ends: for (...), DO I = 1, N */
    uint32_t end;    /* of its body */
    uint32_t told;   /* what names it: `first`, or the line of `while` behind do { } */
    uint32_t parent; /* the statement around it, STATEMENT_NONE */
    bool unrolled;   /* DO with so few rounds, all known, that compilers leave no loop of it */
    uint32_t ranges; /* loops that it is: those of DO CONCURRENT and FORALL have several indices */
};

struct line_span {
    uint32_t first, last;
};

struct plain_line {
    uint32_t line;
};

struct statements {
    VEC(struct loop_statement) loops; /* in the order of the text: parents come first */
    VEC(struct plain_line) gotos;     /* ascending */
    VEC(struct plain_line) ifs;       /* C, ascending: in which one begins */
    /* Ascending: statements over whole arrays or sections of them, loops of their own; and atomic ones of OpenMP with
     * their directive, which are tried again. */
    VEC(struct line_span) arrays;
    VEC(struct line_span) rounds; /* Fortran, ascending: from a labelled statement to the last GOTO back to it */
    VEC(struct line_span) parts;  /* Fortran, ascending: other statements that are written over several lines */
};

/* The scanner for a file of this name: C and what is like it, Fortran in free form, in fixed form, Ada; NULL: none. */
typedef void statements_scan(const char *text, size_t size, struct statements *out);
statements_scan *statements_scanner(const char *path);

/* `out` is initialised here, and to be freed with statements_deinit. */
void statements_of_c(const char *text, size_t size, struct statements *out);     /* statements_c.c */
void statements_of_free(const char *text, size_t size, struct statements *out);  /* statements_fortran.c */
void statements_of_fixed(const char *text, size_t size, struct statements *out); /* statements_fortran.c */
void statements_of_ada(const char *text, size_t size, struct statements *out);   /* statements_ada.c */
void statements_deinit(struct statements *s);

#endif
