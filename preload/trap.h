/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGTRAP, which three have a use for: the software clock (sources/perf.h), the breakpoints in marked procedures
 * (patch/patch.h), and the program. Each signal goes to whom it is for.
 */
#ifndef HQ_PRELOAD_TRAP_H
#define HQ_PRELOAD_TRAP_H

#include <stdbool.h>

/* The process that traces this one, 0: there is none. Safe in signal handlers. */
int trap_tracer(void);

/* Is there a debugger, or valgrind, which takes every SIGTRAP for its own and stops? Not in signal handlers. */
bool trap_is_traced(void);

/* Does the process have one thread, so that nobody is in any code but that which has called us? Likewise. */
bool trap_is_alone(void);

/* Is it a program of Go's, whose runtime ends it at a signal that it does not know? Likewise. */
bool trap_is_go(void);

/* Takes the signal, if it is not yet taken; before threads exist. */
void trap_take(void);

#endif
