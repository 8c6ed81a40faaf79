/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alternate signal stacks. The kernel's signal frame alone takes 3.5 KiB where there is AVX-512 and 11 KiB where there
 * is AMX: more than a coroutine may have left, or a small alternate stack; and an alternate stack that the program has
 * unmapped does no harm as long as no signal comes. So in every thread the kernel has an alternate stack of ours, for
 * our handler alone, and the program is told what it has asked for. A handler of the program that wants its alternate
 * stack is moved there before it begins (entry.h); where it was given none it runs on ours, where the stack is.
 *
 * A thread that maps or unmaps memory holds up all others of its process for as long as it is kept from a processor
 * itself, so stacks are made many at a time, by who creates threads, and go from those that end to those that begin.
 *
 * A stack set with SS_AUTODISARM, which the kernel takes away while a handler runs, is left to the kernel.
 */
#ifndef HQ_PRELOAD_SIGNALS_ALTSTACK_H
#define HQ_PRELOAD_SIGNALS_ALTSTACK_H

#include <signal.h>
#include <stdbool.h>

enum { ALTSTACK_BYTES = 64 << 10, ALTSTACK_NOTE = 96 };

struct altstack_place; /* the memory of one */

/* The alternate stack of the calling thread. */
struct altstack {
    void *memory;                 /* ALTSTACK_BYTES, NULL: none */
    struct altstack_place *place; /* which that is */
    stack_t asked;                /* what the program believes in while the kernel has `memory` */
    bool replaced;                /* it has */
};

extern __thread struct altstack altstack __attribute__((tls_model("initial-exec")));

/* For a thread that is to be created; NULL: no memory. Given to altstack_begin, or back. */
struct altstack_place *altstack_take(void);
void altstack_give_back(struct altstack_place *place);

/* ALTSTACK_NOTE bytes for who creates the thread, until that has its place: what malloc gives is the program's. */
void *altstack_note(struct altstack_place *place);

/* Before the calling thread is sampled. In a forked child it has its stack already, and needs no place. */
void altstack_begin(struct altstack_place *place);

/* The thread ends: gives the place back. */
void altstack_end(void);

#endif
