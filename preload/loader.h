/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loader's list of what is loaded, beside forks. dl_iterate_phdr holds a lock that older C libraries (2.31) do not
 * free in a forked child: one that is forked meanwhile waits for ever when it throws an exception, or opens or closes a
 * library. So no fork begins while we ask, and we do not ask while one is under way; who waits for the other does so
 * for some milliseconds at most.
 */
#ifndef HQ_PRELOAD_LOADER_H
#define HQ_PRELOAD_LOADER_H

#include <link.h>
#include <stddef.h>

/* As dl_iterate_phdr. Not in signal handlers. */
void loader_list(int (*each)(struct dl_phdr_info *info, size_t size, void *data), void *data);

/* Around a fork, for pthread_atfork; and in the child, however it was made. */
void loader_before_fork(void);
void loader_after_fork(void);
void loader_forget(void);

#endif
