/* SPDX-License-Identifier: BSD-3-Clause */
/* `through PATH`: which samples have a call path that matches. */
#ifndef HQ_QUERY_PATHS_H
#define HQ_QUERY_PATHS_H

#include "query/choose/select.h"

/* Sets selection->keep if the query has `through`. */
struct hq_error *paths_select(struct query_env *env, struct selection *s, const struct query *q);

/* Matches the paths of the query in any tree: *keep[position] is 1 where all of them match, *keep NULL if the query has
 * none. The caller frees. notes may be NULL. */
struct hq_error *paths_mark(struct query_env *env, const struct tree *t, const struct query *q, uint8_t **keep,
                            struct selection *notes);

#endif
