/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of single profiles by frame, as db_frame_values has them, but only what the selection has: of its profiles, in
 * its slices of time, on the call paths that it keeps. Of trees whose positions are the frames of the database.
 *
 *     struct chosen_values v = chosen_values(&chosen, tree_range(tree, context));
 *     struct db_value x;
 *     while (chosen_next(&v, &x)) use(x.frame, x.profile, x.sum, x.count);
 */
#ifndef HQ_QUERY_CHOSEN_H
#define HQ_QUERY_CHOSEN_H

#include "query/choose/select.h"

struct chosen {
    const struct selection *s;
    uint32_t metric;
    VEC(struct db_value) sliced; /* by frame; only if s->sliced */
};

/* Reads the traces if there are slices; QUERY_INTERRUPTED if the user asks to stop. Ended with chosen_deinit, after an
 * error too. */
struct hq_error *chosen_init(struct chosen *c, const struct selection *s, uint32_t metric);
void chosen_deinit(struct chosen *c);

struct chosen_values { /* private */
    const struct selection *s;
    struct db_values all;
    const struct db_value *at, *end;
};
struct chosen_values chosen_values(const struct chosen *c, struct db_range frames);
bool chosen_next(struct chosen_values *v, struct db_value *out);

#endif
