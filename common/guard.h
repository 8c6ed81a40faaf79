/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that somebody cuts short in place while they are mapped: the kernel then answers access to what is gone with
 * SIGBUS, which would end the process without a word. A guarded mapping either reads as zeros from there on, and says
 * that it is broken (for readers that believe nothing that a file says), or ends the process with one sentence and the
 * status of unreadable data (for readers that have checked a file once and then believe it). Signals for memory that is
 * not guarded do what they did before.
 */
#ifndef HQ_COMMON_GUARD_H
#define HQ_COMMON_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct guard;

enum guard_policy { GUARD_ZEROS, GUARD_END };

/* `data` begins a mapping made by mmap; path is for the sentence. Both stay the caller's, and must outlive the guard.
 * From any thread. */
struct guard *guard_add(const void *data, size_t size, const char *path, enum guard_policy policy);
bool guard_is_broken(const struct guard *g);
/* Before the memory is unmapped. NULL is allowed. */
void guard_remove(struct guard *g);

#endif
