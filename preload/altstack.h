/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alternate signal stacks. Our handler runs on the program's, which may be too small for it: the kernel's signal frame alone takes 3.5 KiB where there
 * is AVX-512. Instead of a small one the kernel gets a larger one of ours; the program is told that it is its own.
 */
#ifndef HQ_PRELOAD_ALTSTACK_H
#define HQ_PRELOAD_ALTSTACK_H

/* The thread ends: gives the memory back. */
void altstack_end(void);

#endif
