/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alternate signal stacks. The kernel's signal frame alone takes 3.5 KiB where there is AVX-512 and 11 KiB where there
 * is AMX: more than a coroutine may have left. So our handler runs on an alternate stack in every thread: the
 * program's, or, where it has none or a small one, one of ours, of which the program sees nothing: it is told what it
 * asked for. A handler of the program that wants an alternate stack (SA_ONSTACK) and was given none runs on ours too.
 */
#ifndef HQ_PRELOAD_ALTSTACK_H
#define HQ_PRELOAD_ALTSTACK_H

/* Before the calling thread is sampled. In a forked child it has its stack already. */
void altstack_begin(void);

/* The thread ends: gives the memory back. */
void altstack_end(void);

#endif
