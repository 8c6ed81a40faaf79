/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics over profiles: mean, deviation, smallest, largest and imbalance of each value. */
#ifndef HQ_QUERY_STATISTICS_H
#define HQ_QUERY_STATISTICS_H

#include "query/measure/entry.h"

/* Sets `statistics` of these entries, as far as the query's programs read them. */
struct hq_error *statistics_compute(struct run *run, struct entry **entries, size_t n);

#endif
