/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGTRAP, which three have a use for: the software clock (sources/perf.h), the breakpoints in marked procedures
 * (patch/patch.h), and the program. Each signal goes to whom it is for.
 */
#ifndef HQ_PRELOAD_SIGNALS_TRAP_H
#define HQ_PRELOAD_SIGNALS_TRAP_H

#include <stdbool.h>

/* The process that traces this one, 0: there is none. Safe in signal handlers. */
int trap_tracer(void);

/* Is there a debugger, or valgrind, which takes every SIGTRAP for its own and stops? Not in signal handlers. */
bool trap_is_traced(void);

/* Does the process have one thread, so that nobody is in any code but that which has called us? Likewise. */
bool trap_is_alone(void);

/* Is it a program of Go's, whose runtime ends it at a signal that it does not know? Likewise. */
bool trap_is_go(void);

/*
 * The program makes this system call. Before it opens a perf event that sends SIGTRAP, the thread that will have the
 * event changes from the software clock to a timer; where that is another one, or where threads inherit it, all do.
 * So do all before its parent becomes its tracer (PTRACE_TRACEME), who takes a SIGTRAP for a breakpoint or a step.
 */
void trap_watch(long number, const long a[6]);

/*
 * Shall this thread have no software clock, since the program has such events? The kernel keeps one SIGTRAP of a
 * thread: one of the program's would be lost beside the clock's. Safe in signal handlers. And in a forked child: a
 * thread's own events are not handed on.
 */
bool trap_is_theirs(void);
void trap_forget(void);

/* Takes the signal, if it is not yet taken; before threads exist. */
void trap_take(void);

/* Does the kernel raise signals of perf events on the way back to user mode? Before Linux 6.11 it sent them at once. */
bool trap_kernel_is_new(void);

#endif
