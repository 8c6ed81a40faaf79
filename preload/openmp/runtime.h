/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime that a call of ours goes on to. Programs have several: a plugin may bring one that it alone finds, and
 * each has threads and teams of its own. So a function is looked up for the place that calls, as the loader would do
 * it: first among what is loaded for all, then behind who calls. What was found is kept for that place.
 */
#ifndef HQ_PRELOAD_OPENMP_RUNTIME_H
#define HQ_PRELOAD_OPENMP_RUNTIME_H

/* The runtime's function for a call that returns to `caller`; NULL: there is none. `name` is a text of the program's
 * life, known by its address. Not in signal handlers the first time. */
void *runtime_find(const char *name, const void *caller);

/* Something is unloaded: other code may come to stand in its place. */
void runtime_forget(void);

#endif
