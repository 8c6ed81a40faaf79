/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a jump leads that stands in place of a breakpoint: a slot (slots.h) calls patch_stub, which saves all registers
 * and has the visit counted. No signal and no system call: it costs a tenth of a breakpoint. A thread must not be
 * between the instructions that the jump lies on when it is put there; so they are put into code that nobody can have
 * run: that of a process with one thread at its start, and of a library that is being opened.
 *
 * A coroutine may have a kilobyte of stack left, so a few hundred bytes are taken of it, and the rest runs in a room of
 * the thread's own. The guard is up meanwhile, and where the program has handlers of signals they wait.
 */
#ifndef HQ_PRELOAD_PATCH_JUMP_H
#define HQ_PRELOAD_PATCH_JUMP_H

#include <stdbool.h>
#include <stdint.h>

/* Registers as patch_stub has pushed them, the last first. */
struct saved {
    uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbx, rdx, rcx, rax, rbp, flags;
    uint64_t back; /* in the slot */
};

/* Called by slots alone, with the return address in the slot on the stack; not a C function. */
void patch_stub(void);

/* Bytes. The last page is for vector registers, of which those of AVX-512 take 2688; the others are a stack. */
enum { JUMP_ROOM = 128 << 10, JUMP_VECTORS = 4096 };

/* Can this processor save its vector registers? Once, before patch_stub is called. */
bool jump_is_possible(void);

/* From now on nothing is counted behind jumps. */
void jump_end(void);

/* Puts the guard up if the thread is to be counted, and returns memory for its vector registers, above the stack; NULL
 * if not. jump_leave ends that. Both use general registers alone. In enter.c. */
void *jump_enter(const struct saved *saved);
void jump_leave(void);
extern volatile bool jump_over;
extern uint64_t jump_signals; /* those of ours, as bits */

/* Counts, on the stack of the room. In jump.c. */
void jump_count(const struct saved *saved);

#endif
