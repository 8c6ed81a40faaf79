/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors that the collector keeps in the program's process: those of its clocks (sources/perf.h), for which the
 * kernel has no other handle.
 *
 * They are out of the program's way: at numbers just below the limit or 4096, where programs do not look for the lowest
 * free one and select rarely reaches, closed by exec, and at most a quarter of what the process may have, 512 at most.
 * The program cannot close them: the wrappers of close, closefrom, close_range, dup2 and dup3 act as if nothing were
 * open there. A number is believed to be ours only as long as the kernel's identity of what stands there is ours, for a
 * bare system call may have closed it, and the program may have opened something else there since.
 */
#ifndef HQ_PRELOAD_DESCRIPTORS_H
#define HQ_PRELOAD_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Takes a descriptor of a perf event into our keeping, under another number. Returns its place here, from 1; 0 if there
 * may be no more, and the descriptor is closed.
 */
int descriptors_keep(int fd);

/* Is what stands at this place still open? Safe in a signal handler. */
bool descriptors_is_open(int place);

/* What its counter says. False: it is not ours any more, or may not be asked. Safe in a signal handler. */
bool descriptors_read(int place, uint64_t *count);

/* The number at this place; the program may make it change. Safe in a signal handler. */
int descriptors_number(int place);

/* Gives the place back; `descriptors_forget` does not close. Both are safe in a signal handler. */
void descriptors_close(int place);
void descriptors_forget(int place);

/* From now on no system call is made here: what is ours is believed to be so still. */
void descriptors_freeze(void);

/* In a forked child: all that it has inherited is closed. */
void descriptors_close_all(void);

#endif
