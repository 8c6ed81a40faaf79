/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of single profiles, and which profiles are summed before statistics are taken: `per rank`, `per host`, `per
 * thread`. */
#ifndef HQ_QUERY_PROFILES_H
#define HQ_QUERY_PROFILES_H

#include "query/choose/select.h"

struct groups_of_profiles {
    uint32_t *of; /* [profile_count] group of a profile, HQDB_NONE: does not count */
    size_t profile_count;
    uint32_t count;
    uint32_t *start; /* [count + 1] in `profiles` */
    uint32_t *profiles;
};

enum which_profiles {
    PROFILES_COUNTED, /* that statistics are over: if any has a rank those with one, no launchers, no helpers; all with
                         `set helpers on` */
    PROFILES_VALUED,  /* whose values of some metric are in its total (selection_counts) */
    PROFILES_ALL,
    PROFILES_QUEUES, /* as COUNTED, but queues of devices: what their metrics have statistics over */
    PROFILES_BOTH,   /* COUNTED and these */
};

/* The selected profiles in groups. VALUED has queues of devices only in the group of their rank or host. */
void profiles_group(const struct selection *s, enum per per, enum which_profiles which, struct groups_of_profiles *out);
/* The groups that statistics of a query without `per` are over: ranks, if a selected profile has one. */
enum per profiles_usual(const struct selection *s);
void profiles_group_deinit(struct groups_of_profiles *g);

/* Prefix sums [positions + 1] of the values of a group, as far as they are in totals. */
struct hq_error *profiles_prefix(const struct selection *s, const struct groups_of_profiles *g, uint32_t group,
                                 uint32_t metric, int64_t *prefix);

/* True if db_frame_values gives what the selection has, but for which profiles are selected. */
bool profiles_by_frame(const struct selection *s);

#endif
