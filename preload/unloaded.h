/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that this process is about to start and that the loader will not load the collector into. They run
 * unmeasured; that they did is noted, a line each, in HOST.unmeasured beside the measurements (db/unmeasured.h reads
 * it). Safe between fork or vfork and exec.
 *
 * Most loaders pass over in silence what they cannot load. That of another C library ends the program instead, one of
 * another machine writes a warning, and so does ours where the library's file is not to be seen (behind chroot): such
 * programs are started without it in LD_PRELOAD.
 */
#ifndef HQ_PRELOAD_UNLOADED_H
#define HQ_PRELOAD_UNLOADED_H

#include <stdbool.h>
#include <stddef.h>

/* The size of the environment without the collector; 0 words: the program gets the environment as it is. */
struct unloaded {
    size_t words, bytes;
};

/* `search`: a name without a slash is looked for in PATH. NULL for `environment` is an empty one. */
struct unloaded unloaded_note(const char *path, bool search, char *const environment[]);

/* Programs that are executed from now on must not get the collector (confine.h): takes it out of this program's own
 * environment too, which functions of the C library hand on. */
void unloaded_leave(void);

/* Copies it to `words`, with LD_PRELOAD, if anything is left of it, in `text`. Returns `words`. */
char *const *unloaded_without(char *const environment[], char *words[], char *text);

#endif
