/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells which calls do not return. Behind such a call the code of something else may begin, and taking it for the next
 * instruction makes loops that do not exist. Known by name (exit, __cxa_throw, ...), by DW_AT_noreturn in the unit of
 * the caller, or inferred: no path from the entry of the callee reaches a return. A shared library calls its own
 * exported procedures through stubs, where another one's could stand: that it returns neither is taken for granted.
 * Inference follows calls six levels deep and no more, so the answer does not depend on the order of questions.
 *
 * And which calls throw no exception, known by name: compilers list where exceptions are caught for stretches of code,
 * and let a stretch run on over such calls. An edge from one behind a loop to a handler inside it would make both one
 * loop.
 */
#ifndef HQ_STRUCTURE_NORETURN_H
#define HQ_STRUCTURE_NORETURN_H

#include "common/map.h"
#include "structure/image.h"

struct noreturn {
    const struct image *image;
    struct map known; /* entry << 3 | levels of inference -> whether it returns */
    struct map own;   /* the hash of a name -> the only address of it, 0: there are several */
    bool listed;      /* own */
};

void noreturn_init(struct noreturn *n, const struct image *image);
void noreturn_deinit(struct noreturn *n);

/* Whether a call of `target`, the address of the callee, does not return. unit: of the caller, may be NULL. */
bool noreturn_call(struct noreturn *n, const struct dwarf_unit *unit, uint64_t target);
bool nothrow_call(const struct image *image, uint64_t target);

#endif
