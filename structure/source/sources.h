/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The source files of a binary, where they are at hand: the files that its debug information names, as they were when
 * it was built. A file that was changed after the binary was linked is not used; neither is one of more than 16 MB, nor
 * any more once 256 MB have been read. `HQ_SOURCES=no` in the environment: none is.
 *
 * One thread at a time.
 */
#ifndef HQ_STRUCTURE_SOURCE_SOURCES_H
#define HQ_STRUCTURE_SOURCE_SOURCES_H

#include "structure/source/statements.h"
#include <sys/stat.h>

struct sources;

/* For a binary of this path; NULL: sources are not wanted, or there is no such file. */
struct sources *sources_open(const char *binary);
void sources_close(struct sources *s); /* NULL is allowed */

/* The loop statements of a file; NULL: it cannot be used. They live as long as `s`. */
const struct statements *sources_statements(struct sources *s, const char *path);
/* Whether a line of a file has a name in it, as that of the declaration of a procedure does; the case of letters does
 * not matter. */
bool sources_line_names(struct sources *s, const char *path, uint32_t line, const char *name);

/* Whether it was read, whatever is in it. */
bool sources_is_read(struct sources *s, const char *path);

/* Tells one state of a file from another, as it was when it was first asked for, or turned out not to be readable. All
 * above SOURCE_UNREAD: it can be used. */
enum { SOURCE_GONE, SOURCE_NEWER, SOURCE_UNREAD };
uint64_t sources_state(struct sources *s, const char *path);

#endif
