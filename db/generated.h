/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code that lies in no file, as just-in-time compilers write it. Many of them can tell its names in /tmp/perf-PID.map
 * (node --perf-basic-prof, python -X perf, java with an agent, ...). What a measurement needs of that text is kept
 * beside it, as HOST-PID-SERIAL.map, as soon as its process has ended: the next process of that number writes over the
 * other one, and the next start of the machine removes it.
 *
 * /tmp belongs to everybody. A map is believed if it is a regular file, belongs to the owner of the measurement (or to
 * root), and was written while the process ran on this host.
 */
#ifndef HQ_DB_GENERATED_H
#define HQ_DB_GENERATED_H

#include "db/measurement.h"
#include "structure/structure.h"

/* Keeps the names for all measurements of this launch (and rank, unless -1) in the directory. Nothing can go wrong that
 * anybody should hear of. */
void generated_keep(const char *measurements, uint64_t launch, int rank);

/* Are there names for a measurement? Keeps them if its process has ended. */
bool generated_is_named(const char *path, const struct measurement *m);

/* The structure of such code of a measurement, around addresses that are sorted, each there once. Without a map nothing
 * has a name. */
void generated_recover(const char *path, const uint64_t *addresses, size_t count, struct structure *out);

/* Like generated_recover, with the names of a file of the same form, if it exists: the kernel's. */
void generated_recover_names(const char *map, const uint64_t *addresses, size_t count, struct structure *out);

/* ---- generated_name.c ---- */

/* Takes the name of an entry apart: "JS:*fib /src/app.js:3:14" is fib of line 3 of that file. `file` NULL and `line` 0:
 * the entry does not tell. The caller frees both texts. */
struct generated_name {
    char *name, *file;
    uint32_t line;
};
struct generated_name generated_name(const char *text);

#endif
