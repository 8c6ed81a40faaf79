/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints a recovered structure: as an indented tree for people, or as a structure file (doc/structure-file.md), XML in
 * the form of [hpcview], figure 2. Files by name, procedures and what is in them by line.
 */
#ifndef HQ_STRUCTURE_OUTLINE_H
#define HQ_STRUCTURE_OUTLINE_H

#include "structure/known.h"
#include "structure/structure.h"
#include <stdio.h>

struct outline_options {
    bool raw;                      /* as the machine code has it, instead of the normalised structure; of the tree */
    const char *const *procedures; /* NULL-terminated names or globs, whole or unqualified; NULL: all */
};

/* Whether a name or glob fits a procedure. */
bool outline_has(const struct structure *s, const char *procedure);

/* Prints the tree for people. module: the name of the outermost row. */
void outline_print(const struct structure *s, const char *module, const struct outline_options *options, FILE *out);

/* Prints a structure file of a load module, with both trees, of a structure that was recovered with options.code.
 * `known`: the names of all its procedures; they are left out where only some procedures are asked for. */
void outline_xml(const struct structure *s, const char *module, const struct known *known,
                 const struct outline_options *options, FILE *out); /* outline_xml.c */

#endif
