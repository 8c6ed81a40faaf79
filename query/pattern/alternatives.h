/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The alternatives of a regular expression, one by one: `wait|lock` is `wait` and `lock`, `^MPI_(Wait|Tset)` is
 * `^MPI_(?:Wait)` and `^MPI_(?:Tset)`. A check says which of them match nothing (pattern.c).
 */
#ifndef HQ_QUERY_ALTERNATIVES_H
#define HQ_QUERY_ALTERNATIVES_H

#include "common/arena.h"
#include "common/vec.h"
#include <stdbool.h>

struct alternative {
    const char *text;  /* as it stands in the expression */
    const char *regex; /* the expression with this one alone */
};

struct alternatives {
    struct alternative *data;
    size_t len, cap;
};

/*
 * Adds those at the top and in groups at the top that are not repeated, in the arena. None where one cannot be taken
 * out without changing others: references, options, conditions, verbs.
 */
void alternatives_in_regex(const char *regex, struct arena *arena, struct alternatives *out);

/* Whether a text of a regular expression stands for itself alone: letters, digits, _ and :. */
bool alternative_is_name(const char *text);

#endif
