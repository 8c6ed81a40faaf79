/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions in front of the wrappers: the program's own, and those of libraries that are preloaded before ours. */
#ifndef HQ_PRELOAD_EXACT_FRONT_H
#define HQ_PRELOAD_EXACT_FRONT_H

#include <stddef.h>

/* Tells, in one sentence, which of these names somebody has in front of ours; `rest` is said of their calls. */
void front_tell(const char *const *names, size_t count, const char *rest);

#endif
