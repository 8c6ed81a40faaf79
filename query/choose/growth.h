/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The totals of a profile's counted metrics (HQDB_METRIC_COUNTED) at an instant. They are exact at marks and, but for a
 * clock, at the samples of one; growth since the last of them is not known yet.
 */
#ifndef HQ_QUERY_GROWTH_H
#define HQ_QUERY_GROWTH_H

#include "query/choose/timeline.h"

struct growth_step {
    uint64_t us;  /* of the run */
    uint64_t sum; /* base units, since the profile began */
};
struct growth {
    const struct db *db;
    struct growth_steps {
        struct growth_step *data;
        size_t len, cap;
    } * steps; /* [metric] */
};

/* Reads all of a profile; growth_deinit frees. */
struct growth growth_of(const struct timeline *time, uint32_t profile);
void growth_deinit(struct growth *g);

/* A clock is looked at where it is affordable, and not at all marks; counters and exact amounts are at each. */
bool growth_is_clock(const struct db *db, uint32_t metric);

/* Returns the growth of a metric between two marks, in base units; NaN: not known. */
double growth_between(const struct growth *g, uint32_t metric, uint64_t from_us, uint64_t to_us);

#endif
