/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of the C library and the kernel, by the globs of waits.def and runtime_groups.def. A star before a name stands
 * for what these put there (`__GI___libc_`, `__x64_sys_`, the f of fread, the p of pread) and for nothing else: `*read`
 * is neither start_thread nor spread.
 */
#ifndef HQ_QUERY_SYSTEM_H
#define HQ_QUERY_SYSTEM_H

#include <stdbool.h>

/* folded: the name as name_folded has it. known: its load module is the C library or the kernel; without a module that
 * is known, what a program may use as a prefix or an ending (my_read, accept_move) is none of these. */
bool system_name(const char *glob, const char *folded, bool known);

/* Where the rows of these tables hold. */
enum where {
    ANYWHERE,
    RUNTIME, /* in a load module of db/runtimes.def, which the C library and the kernel are too */
    SYSTEM   /* in the C library, the kernel, or where no load module is known */
};

/* Where a name stands. known: its load module is. */
struct standing {
    bool known, runtime, system;
};

/* runtime: that of its load module; NULL for the program, and where no load module is known. */
struct runtime;
struct standing standing_of(const struct runtime *runtime, bool known);

/* Whether a row is of this name. */
bool system_row(const char *glob, enum where where, const char *folded, struct standing standing);

#endif
