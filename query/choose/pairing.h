/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs the procedures of both sides of a comparison (compare.c): by qualified name, whatever demangler wrote it; by
 * linkage name where several procedures of a side share a name and both sides know the linkage name; by the name that
 * the other side has where a symbol has several (write, __write). Procedures of one name in several programs (main of
 * one and of its launcher) are told apart by the programs: those of one name are one, and all others but launchers, for
 * they may have been built under another name.
 *
 * A name with arguments and one without are the same procedure if neither side has more of that name: of a static
 * procedure that is inlined everywhere, gcc gives the name without arguments and clang gives it with them. Between two
 * tools return types and marks of copies (` [clone .part.0]`) are no part of a name.
 */
#ifndef HQ_QUERY_PAIRING_H
#define HQ_QUERY_PAIRING_H

#include "common/intern.h"
#include "common/map.h"
#include "query/tree/tree.h"

struct pairing {
    bool no_arguments; /* of names: one side does not know them */
    bool no_linkage;   /* one side does not know the linker's names */
    bool two_tools;
    bool one_program; /* nothing tells of which program a procedure is, as of regions' bodies */
    bool modules;     /* private, as all below: both sides know load modules */
    struct intern texts;
    struct map alike;       /* names that several procedures of a side have */
    struct map names_of[2]; /* of a side: name and load module */
    struct map programs[2]; /* of a side: programs by their names */
    struct map several;     /* names that procedures of several programs have */
    struct map shown;       /* of a procedure that more than its name tells from others: that name */
    struct map
        spellings[2]; /* of a side: [name without arguments] -> as it is spelt, SPELT_SEVERAL if in several ways */
};

/* Looks at the procedures of both sides: this one's first. The rest is zeroed, but for what is not private. */
void pairing_init(struct pairing *p, const struct tree *const sides[2]);
void pairing_deinit(struct pairing *p);

/* Names are numbers in p->texts. Of anything: */
uint32_t pairing_name(struct pairing *p, const char *name);
/* of a procedure or inlined procedure; */
uint32_t pairing_procedure(struct pairing *p, const struct tree *t, const struct hqdb_scope *s, bool old);
/* (as a person knows it; valid until the next is asked for) */
const char *pairing_shown(const struct pairing *p, uint32_t procedure);
/* of all of them that a side has, by scope, and of loops that of the procedure they are in; 0 of anything else, and
 * where that is not known. The caller frees it; */
uint32_t *pairing_procedures(struct pairing *p, const struct tree *t, bool old);
/* of the procedure in which the body of a parallel region is written; 0 if its name does not tell; */
uint32_t pairing_home(struct pairing *p, const char *body);
/* of a load module: libgomp.so.1 and libgomp.so.1.0.0 are one. */
uint32_t pairing_module(struct pairing *p, const char *path);

/* The body of a parallel region as a procedure of its own, as gcc and clang make them. */
bool pairing_is_body(const char *name);
/* Does the name of a body not tell where it is written, as `.omp_outlined.` does not? */
bool pairing_is_nameless_body(const char *name);

#endif
