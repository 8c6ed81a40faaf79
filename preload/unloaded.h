/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that this process is about to start and that the loader will not load the collector into. They run unmeasured; that they did is noted, a
 * line each, in HOST.unmeasured beside the measurements (db/unmeasured.h reads it). Safe between fork or vfork and exec.
 */
#ifndef HQ_PRELOAD_UNLOADED_H
#define HQ_PRELOAD_UNLOADED_H

#include <stdbool.h>

/* `search`: a name without a slash is looked for in PATH. NULL for `environment` is an empty one. */
void unloaded_note(const char *path, bool search, char *const environment[]);

#endif
