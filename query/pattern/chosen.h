/* SPDX-License-Identifier: BSD-3-Clause */
/* A row of the previous result, `#3`, or an id, `@k3f9x2`, as contexts. */
#ifndef HQ_QUERY_CHOSEN_H
#define HQ_QUERY_CHOSEN_H

#include "query/pattern/pattern.h"

/* A line of another build, or under other settings, is found by its place among the scopes of `kinds`. */
struct hq_error *match_row(const struct query_env *env, const struct tree *t, const struct pattern *p, unsigned kinds,
                           struct matches *out);
struct hq_error *match_id(const struct tree *t, const struct pattern *p, struct matches *out);

#endif
