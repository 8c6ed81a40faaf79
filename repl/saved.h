/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saved queries: files NAME.hq, found by name. Searched in this order: the directories of $HQ_QUERIES (separated by
 * colons), ./queries, ~/.config/hq/queries, and those that come with hq: examples/queries beside a
 * program that runs where it was built, or PREFIX/share/hq/queries.
 */
#ifndef HQ_REPL_SAVED_H
#define HQ_REPL_SAVED_H

#include "common/err.h"
#include <stdbool.h>

/* The path of a saved query, to be freed; a name with a slash is a path. HQ_USAGE with the nearest name if there is
 * none. */
struct hq_error *saved_find(const char *name, char **path);

/* Whether a text is the name of one. */
bool saved_exists(const char *name);

/* Calls each for every name, in the order of the search; a name may come twice. Ends at a directory that is there and
 * cannot be listed: behind it another query may be found than the one that is meant. */
struct hq_error *saved_each(void (*each)(void *arg, const char *name, const char *path), void *arg);

/* The first comment of a saved query, to be freed; NULL if it has none. */
char *saved_summary(const char *path);

#endif
