/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code that belongs to no load module: what just-in-time compilers write, trampolines, programs that bring their own
 * loader. The kernel's list of mappings tells what of the address space is executable. It is read when an address is
 * met that is not known, and so seldom that reading it takes at most one part in 256 of the time. Safe in signal
 * handlers; no locks.
 */
#ifndef HQ_PRELOAD_WALK_LOOSE_H
#define HQ_PRELOAD_WALK_LOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Was the address in an executable mapping when the list was last read? For addresses in no module. */
bool loose_is_code(uint64_t address);

/* Where the file begins in memory that the executable mapping around the address is of; 0: it is of none. */
uint64_t loose_image(uint64_t address);

/*
 * Where the file begins in memory of whose code the code at an address is a copy, mapped once more by the program (V8
 * has one of its own procedures near the code that it makes), and the place in the file; by the list as it was last
 * read. 0: it is none.
 */
uint64_t loose_copy(uint64_t address, uint64_t *offset);

/* The path of the file that begins there, by a reading of its own. False: there is none, or it does not fit. */
bool loose_path(uint64_t image, char *path, size_t room);

/* Mappings have changed: the next question may read the list again, however soon. */
void loose_stale(void);

/* In a forked child, where nobody else is reading the list. */
void loose_forget(void);

#endif
