/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of procedures in little room, all of one result: those that leaving out made equal say where they differ,
 * `run<...>(...) {main::{lambda(int)#1}}`.
 */
#ifndef HQ_QUERY_OUTPUT_APART_H
#define HQ_QUERY_OUTPUT_APART_H

#include <stddef.h>

/* Columns of a name that is short where no terminal says how wide it may be. */
enum { NAME_SHORT = 48 };

/* One name, and what is shown of it in `room` columns (SIZE_MAX: all). */
struct shown_name {
    const char *name;
    size_t room;
    char *shown; /* the caller frees it */
};

/* Fills `shown`. The same name is the same procedure; two names are never shown alike, if need be in more than their
 * room. */
void names_show(struct shown_name *names, size_t n, const char *dots);

/* [row] the names of a table's rows in so many columns each, or a pointer to NULL where a row has none of its own.
 * The caller frees each of them and the array. */
struct table;
char **table_short_names(const struct table *t, size_t room, const char *dots);

#endif
