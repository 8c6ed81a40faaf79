/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which part of a thread's own stack can be read without asking. Normally all that is in use; but a program may take
 * the right to read away from pages of it, its own or another thread's, or unmap them, and a walk that reads there ends
 * the program. So the calls that do such things are watched (those through the C library), and where one has touched a
 * stack the walk asks the kernel for each page, as it does on foreign stacks.
 */
#ifndef HQ_PRELOAD_WALK_STACKS_H
#define HQ_PRELOAD_WALK_STACKS_H

#include <stdbool.h>
#include <stdint.h>

/* A thread's stack [low, high), a place to know it by, 0 if there are too many; and its end. */
uint32_t stacks_add(uint64_t low, uint64_t high);
void stacks_remove(uint32_t place);

/* In a forked child: there are none. */
void stacks_forget(void);

/* A bare system call of the program is about to be made that may do that. */
void stacks_watch(long number, const long a[6]);

/* Something was doubted. */
extern bool stacks_doubted;

/* For a sample at stack pointer `sp`: makes [*low, *high), which is the stack at `place`, smaller if something is
 * doubted. Empty: ask for each page. Safe in a signal handler. */
void stacks_restrict(uint32_t place, uint64_t sp, uint64_t *low, uint64_t *high);

#endif
