/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of procedures in little room, all of one result: those that leaving out made equal say where they differ,
 * `run<...>(...) {main::{lambda(int)#1}}`.
 */
#ifndef HQ_COMMON_APART_H
#define HQ_COMMON_APART_H

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

#endif
