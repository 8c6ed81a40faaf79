/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marked procedures (`hq record --mark`): jumps or breakpoints in memory where they are entered and left, at the places
 * that `hq record` has found in the files (format/patches.h). The replaced instructions run in a slot near the module,
 * or are done by the breakpoint's handler; so code and stack are what they were to everybody who does not read the code
 * itself.
 *
 *   table.c   which places have a breakpoint
 *   slots.c   where replaced instructions run
 *   apply.c   patching the modules of the process, and those that it opens later
 *   jump.c    where jumps lead, and enter.c
 *   follow.c  what the replaced instruction would have done
 *   visits.c  what is entered and left is counted and traced
 */
#ifndef HQ_PRELOAD_PATCH_PATCH_H
#define HQ_PRELOAD_PATCH_PATCH_H

#include "format/patches.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Where HQ_MARKS names a file of places: reads it and takes SIGTRAP. Before threads exist, and before signal_start. */
void patch_prepare(void);

/* Patches what is loaded. After the collector has begun, in the program's first thread. */
void patch_start(void);

/* The instructions are there again, since handlers of signals cannot return any more from now on. */
void patch_end(void);

/* A SIGTRAP has come: if one of the breakpoints raised it, sees to it. False: none did. In its handler. `strange`: in a
 * thread that is not measured, whose storage may be another's (reach.h). */
bool patch_trap(const siginfo_t *info, ucontext_t *context, bool strange);

/* ---- of this folder ---- */

struct patch {
    _Atomic uint64_t address;              /* 0: the entry of the table is free */
    const struct hqp_place *_Atomic place; /* NULL: it was there, in a module that is gone */
    uint64_t base;                         /* of the module */
    uint64_t slot;                         /* of HQP_COPY: where the instruction runs */
};

/* Room for `places` at several addresses. False: there is no memory. */
bool patch_table_make(uint32_t places);

/* The first one behind `before`, NULL: of all; NULL if there is none. */
const struct patch *patch_next(const struct patch *before);

/* The one at an address, NULL if there is none. Safe in signal handlers. */
const struct patch *patch_find(uint64_t address);

/* False: the table is full. One that is there is replaced. By one thread at a time. */
bool patch_put(const struct patch *patch);

/* Those from `start` to `end` are gone, with their slots. */
void patch_remove(uint64_t start, uint64_t end);

/* The loader has come to where it tells a debugger that modules have come or gone. */
bool patch_is_loader(const struct patch *patch);
void patch_loader_changed(void);

/* Does what the instruction at a breakpoint would have done, or sends the thread to where it is done. */
void patch_go_on(const struct patch *patch, ucontext_t *context);

/* Whether that leaves the procedure. */
bool patch_leaves(const struct patch *patch, const ucontext_t *context);

#endif
