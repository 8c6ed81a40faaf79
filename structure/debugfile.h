/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the debug information of a binary is: in itself, in a separate file found by build-id or by .gnu_debuglink, or
 * (only when DEBUGINFOD_URLS is set and the client library is installed) on a debuginfod server. Directories are those
 * of HQ_DEBUG_PATH (colon-separated), then /usr/lib/debug. Last, symbols alone may lie compressed in the binary itself.
 * A file is taken only if its build-id is that of the binary, or its checksum that of the link. Conventions: GDB
 * manual, "Debugging Information in Separate Files".
 */
#ifndef HQ_STRUCTURE_DEBUGFILE_H
#define HQ_STRUCTURE_DEBUGFILE_H

#include "structure/elf.h"

struct debug_file {
    struct elf *debug; /* the binary itself if there is no other file; never NULL */
    struct elf *alt;   /* dwz's common file, or NULL */
    char *problem;     /* NULL, or a clause: "separate debug file X does not belong to it" */
};

/* servers: false: only what is on this machine. */
void debug_file_find(struct elf *text, bool servers, struct debug_file *out);
void debug_file_close(struct debug_file *f, const struct elf *text);

#endif
