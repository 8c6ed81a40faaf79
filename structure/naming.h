/* SPDX-License-Identifier: BSD-3-Clause */
/* The names that users see. Each adds a text to the book and returns its number. */
#ifndef HQ_STRUCTURE_NAMING_H
#define HQ_STRUCTURE_NAMING_H

#include "structure/book.h"
#include "structure/image.h"
#include "structure/procedure.h"

/* Demangled and whole; the name in the source where there is no symbol. 0 if there is neither. */
uint32_t naming_origin(struct book *b, const struct dwarf_origin *origin);
/* libfoo.so.1+0x1234, to be freed. */
char *naming_unknown(const char *path, uint64_t address);
/* The name for the linker of what has this origin, of a procedure; 0: none is known. What the compiler put behind the
 * name of a copy or a part (.isra.0, .cold) is no part of it. */
uint32_t naming_origin_linkage(struct book *b, const struct dwarf_origin *origin);
uint32_t naming_linkage(struct book *b, const struct image *image, const struct procedure *p);
/* naming_unknown() where nothing names the procedure. */
uint32_t naming_procedure(struct book *b, const struct image *image, const struct procedure *p);
/* All other names of a procedure: appended to book.aliases and noted in its scope. */
void naming_aliases(struct book *b, const struct image *image, const struct procedure *p, uint32_t scope);

#endif
