/* SPDX-License-Identifier: BSD-3-Clause */
/* Permanent memory for the collector itself, safe in signal handlers: from fresh pages, by atomic addition, never
 * freed. */
#ifndef HQ_PRELOAD_HEAP_H
#define HQ_PRELOAD_HEAP_H

#include <stddef.h>

/* Zeroed, aligned to 16; NULL if the system has no more. */
void *heap_take(size_t bytes);

/* NULL likewise. */
char *heap_copy_string(const char *text);

#endif
