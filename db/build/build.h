/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Building: DB/measurements -> structure -> DB/hq.db.
 * db_prepare is what every question calls first: it opens the database, building or rebuilding it when there is
 * none or the measurements have changed since.
 */
#ifndef HQ_DB_BUILD_BUILD_H
#define HQ_DB_BUILD_BUILD_H

#include "common/err.h"
#include "db/db.h"
#include <stdbool.h>

struct build_options {
    const char *output; /* database file or directory to write; NULL: in the measurement directory */
    int threads;        /* 0: all cores */
    bool no_structure_cache;
    bool no_loops;
    bool with_source;              /* put the source files into the database */
    const char *clock_offsets;     /* file: what to add to the clocks of hosts (clocks.h); NULL: nothing */
    const char *const *structures; /* files of structure that is given from outside (structure/given/given.h) */
    size_t structure_count;
    bool structure_by_name; /* they are taken for load modules of their names, too */
    bool force;             /* rebuild even if it is up to date */
};

/*
 * Builds a database from database directories, directories of measurements, or measurement files, together. *written is
 * its path (malloc'ed; NULL on ranks other than 0). Started by mpirun, all its ranks share the work, and the file is
 * the same.
 */
/* prepare.c */
struct hq_error *db_build(const char *const *inputs, size_t count, const struct build_options *options, char **written);
/* Opens the database at `path`, a file or directory; the caller ends *out with db_close. A read-only DB is built in the
 * user's cache directory. Two at once do not harm each other. NULL options: the defaults. HQ_DATA if there is nothing
 * at the path, no measurements in it, or they cannot be read. */
struct hq_error *db_prepare(const char *path, const struct build_options *options, struct db **out);

#endif
