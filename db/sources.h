/* SPDX-License-Identifier: BSD-3-Clause */
/* The measurement files that a database is made from. */
#ifndef HQ_DB_SOURCES_H
#define HQ_DB_SOURCES_H

#include "common/err.h"
#include "common/vec.h"
#include <stdbool.h>
#include <stdint.h>

struct source_files {
    char **data;
    size_t len, cap;
};

/* Whether a process of this machine runs. One that has ended and that nobody has waited for does not. */
bool sources_is_alive(long pid);

/*
 * Does the process of the header still run, and write the measurement file? One of its number need not be it: the pid
 * may have been given to another since, or be of a namespace of its own, where pids are small. Where its mappings may
 * not be read it is believed to be.
 */
struct hqm_header;
bool sources_is_written(const char *path, const struct hqm_header *header);

/* Is a measurement file, by its name, of a process of this machine? */
bool sources_is_here(const char *path);

/* The *.hqm below each input: a database directory, a directory of measurements, or a file. Sorted, each once. */
struct hq_error *sources_find(const char *const *inputs, size_t count, struct source_files *out);
void sources_deinit(struct source_files *s);

/*
 * Identifies the state of the measurements: names, sizes, and what their headers say (a mapped file changes long before
 * its times do).
 */
enum { SOURCES_RECENT = 600 };
struct sources_state {
    uint64_t key;       /* never 0 */
    uint64_t files_key; /* as sources_files_key if all processes have ended, else 0 */
    bool running;       /* one of the processes is still alive on this machine */
    bool perhaps; /* one on another machine has not ended, and gave a sign of life in the last SOURCES_RECENT seconds */
};
struct sources_state sources_look(const struct source_files *s);

/* From names, sizes and times alone, which is faster: says enough where all processes had ended. Never 0. */
uint64_t sources_files_key(const struct source_files *s);

#endif
