/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processor that the collector is compiled for, a folder for each (its registers: unwind/arch/arch.h). What the
 * processor's arch.h defines, all of it safe in signal handlers:
 *
 *   raw_syscall()             a system call without the C library
 *   arch_pc() arch_sp()       of what a signal has interrupted
 *   arch_registers()          all of them, by DWARF's numbers
 *   arch_registers_here()     those that calls preserve, of the function that it is inlined into, and CFI_PC
 *   arch_code_address()       a code address as it was before it was signed
 *   arch_call_at()            has the signal ended a system call, or is the kernel about to make one again?
 *   arch_end_repetition()     such a call is over, with EINTR
 *   arch_has_called()         has a system call just returned there, with a result above 0?
 *   arch_return_of()          where a frame with such a recipe has saved its return address, from the CFA
 *   arch_return_at()          the same from what the memo knows of the frame outside of it (`how`)
 *   arch_is_call_before()     is there a call instruction before an address? Reads ARCH_CALL_BYTES before it
 *   arch_names_callee()       does the call instruction before an address say itself what it calls? Reads as much
 *   arch_is_return()          is there a return instruction at an address of readable code? Where CFI_LINKS
 *   arch_gives_base()         may programs read and set the base of thread-local storage? If so:
 *   arch_base() arch_set_base()
 *   arch_has_rights()         are there keys that protect pages? If so, the rights to them:
 *   arch_rights() arch_set_rights()
 *   arch_pause()              one round of busy waiting
 *
 *   ARCH_RED_ZONE             how far below its stack pointer a procedure may use the stack
 *   ARCH_CALL_BYTES           how long a call instruction may be
 *   ARCH_SCRATCH_BYTES        memory of memo.follow, for its own files
 *   ARCH_HANDLER              what a signal handler is declared with
 *   ARCH_AUDIT                its number for seccomp filters
 *   ARCH_MACHINE, ARCH_NAME, ARCH_LOADER    its ELF machine, what it is called, the C library's loader
 *   ARCH_VDSO_CLOCK           the vDSO's clock_gettime
 *
 * and what its other files define (walk/walk.h, signals/entry.h, patch/, openmp/fork.h): walk_without_cfi, walk_signal,
 * walk_behind_switch, walk_found_return, the entries of signal handlers, marked procedures, and libomp's functions that
 * open regions.
 */
#ifndef HQ_PRELOAD_ARCH_ARCH_H
#define HQ_PRELOAD_ARCH_ARCH_H

/* getauxval by the name that is the C library's alone: a program may have its own. */
extern unsigned long __getauxval(unsigned long type);

#include "unwind/arch/arch.h"

#include <stdbool.h>
#include <stdint.h>

/* A system call in which a signal has found the thread. */
enum arch_call {
    ARCH_NO_CALL,
    ARCH_ENDED,   /* by the signal, with EINTR: the thread stands behind it */
    ARCH_REPEATS, /* the kernel makes it again: the thread stands before it */
};

#if defined(__x86_64__)
#include "preload/arch/x86_64/arch.h"
#elif defined(__aarch64__)
#include "preload/arch/aarch64/arch.h"
#endif

#endif
