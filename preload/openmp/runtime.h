/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime that a call of ours goes on to. Programs have several: a plugin may bring one that it alone finds, and
 * each has threads and teams of its own. So a function is looked up as the loader would do it for who calls: first
 * among what is loaded for all, then behind the module that calls. That has the body which the call hands over; where
 * the call returns to tells less, for who ends with it has made a jump of it. What was found is kept for the place.
 */
#ifndef HQ_PRELOAD_OPENMP_RUNTIME_H
#define HQ_PRELOAD_OPENMP_RUNTIME_H

/* The runtime's function for a call from the module that `place` is in; NULL: there is none. `name` is a text of the
 * program's life, known by its address. Not in signal handlers the first time. */
void *runtime_find(const char *name, const void *place);

/* Something is unloaded: other code may come to stand in its place. */
void runtime_forget(void);

#endif
