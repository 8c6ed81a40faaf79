/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names in a database, the costliest first: what completion looks through. Each record has the first bytes of the
 * last part of its name, so that few of the names themselves have to be read.
 */
#ifndef HQ_DB_NAME_LIST_H
#define HQ_DB_NAME_LIST_H

#include "db/db.h"

struct canon;
struct writer;

struct names {
    struct hqdb_name *data;
    size_t len, cap;
};

/*
 * All names of a sort, those with a return type twice, the second time with the begin of what follows it. statistics:
 * of scopes, for the first metric; NULL: none. The array is the caller's.
 */
void names_list(const struct hqdb_scope *scopes, size_t count, const char *strings, size_t bytes,
                const struct hqdb_statistics *statistics, enum hqdb_names sort, struct names *out);

/* The names of a sort in an open database. `own` holds them if the file has none, being of an earlier hq: vec_deinit.
 */
struct db_names {
    const struct hqdb_name *data;
    size_t len;
};
struct db_names names_of(const struct db *db, enum hqdb_names sort, struct names *own);

/* The texts that begin with a prefix are those at [first, last): texts are sorted. */
struct db_range names_range(const struct db *db, const char *prefix);

/* Writes the sections of all sorts. */
void names_write(const struct canon *c, const struct hqdb_statistics *statistics, struct writer *w);

#endif
