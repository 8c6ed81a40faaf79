/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regular expressions that are lists of names: `^(solve|exchange)$`, `^MPI_(Wait|Test)$`, `^solve$|^exchange$`. Each of
 * these is meant to be found, where alternatives such as `wait|lock` look for whatever there is.
 */
#ifndef HQ_QUERY_LISTED_H
#define HQ_QUERY_LISTED_H

#include "common/arena.h"
#include "common/vec.h"

struct listed_names {
    const char **data;
    size_t len, cap;
};

/* Adds the names, in the arena; none if the expression is no such list. One name, `^solve$`, is a list. */
void listed_in_regex(const char *regex, struct arena *arena, struct listed_names *out);

#endif
