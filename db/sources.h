/* SPDX-License-Identifier: BSD-3-Clause */
/* The measurement files that a database is made from. */
#ifndef HQ_DB_SOURCES_H
#define HQ_DB_SOURCES_H

#include "common/err.h"
#include "common/vec.h"
#include <stdbool.h>
#include <stdint.h>

struct source_files { char **data; size_t len, cap; };

/* The *.hqm below each input: a database directory, a directory of measurements, or a file. Sorted, each once. */
struct hq_error *sources_find(const char *const *inputs, size_t count, struct source_files *out);
void sources_deinit(struct source_files *s);

/*
 * Identifies the state of the measurements: names, sizes, and what their headers say (a mapped file changes long before its times do).
 * Never 0. running (may be NULL): one of the processes is still alive on this machine.
 */
uint64_t sources_key(const struct source_files *s, bool *running);

#endif
