/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the view `regions`: what was sampled in a region, its teams, and what was counted where it
 * was opened. */
#ifndef HQ_QUERY_REGIONS_H
#define HQ_QUERY_REGIONS_H

#include "common/map.h"
#include "query/run.h"

/* The share of a region's time that a frame belongs to. */
enum share { SHARE_WORK, SHARE_WAITING, SHARE_RUNTIME };

/* In units of the metric: exact, whatever their order. */
struct sums {
    int64_t share[3];
    int64_t own; /* of the runtime's share: what measuring took */
    uint64_t samples;
    int64_t *work; /* [profile] */
    uint8_t *seen; /* [profile] enum seen */
    bool nested;   /* other regions lie in it */
};
enum seen { SEEN_NOT, SEEN, SEEN_UNASKED };

/* The threads of one process in a region. */
struct team {
    int64_t threads, most;        /* as they were sampled */
    uint64_t elapsed_ns, openers; /* by all that open it, each of which has its share of the threads */
    int64_t largest;              /* of all openers together, by the runtime's count */
    double time_ns;               /* threads by elapsed time, likewise */
    bool unknown;                 /* that count does not hold */
};
struct teams {
    struct map of; /* process -> place in `data` */
    VEC(struct team) data;
    uint8_t *opened;   /* [profile] */
    uint32_t *largest; /* [profile] */
    bool sampled_only; /* it is not known which processes were in it but by their samples */
};

/* Their sums over all teams. */
struct team_sums {
    int64_t threads, work_of_busiest;
    double time_ns;
};

/* ---- regions_teams.c ---- */

struct team *team_of(struct teams *t, const struct hqdb_profile *p);
/* Counts the teams of each process: of threads that lived one after the other, and opened the region, the largest one.
 * Behind all openers. */
void teams_seat_openers(struct teams *t, const struct db *db);
/* Adds the threads that were sampled, and says what all come to. */
struct team_sums teams_sum(struct teams *t, const struct sums *s, const struct db *db);
/* Whether the runtimes' counts tell the threads of a region. */
bool teams_are_known(const struct teams *t);
/* Whether threads of its processes may have worked in a region without a sample in it; `team`: all of them. */
bool teams_may_miss_threads(struct teams *t, const struct sums *s, const struct db *db, double team);

/* ---- regions_counts.c ---- */

/* Counts of one region where it was opened, as far as it was chosen. */
struct region_counts {
    uint64_t entries, elapsed_ns;
    bool any;     /* it was recorded so */
    bool partly;  /* paths were chosen that are some of those in it: what was counted is not of these */
    bool untimed; /* a slice of time was chosen, and it is not known when the region was entered */
};

/* By db->regions: what of each lies in the slices; without slices what was counted in all. */
struct entered {
    uint64_t entries, elapsed_ns;
    bool known;
};
struct entered *regions_entered(const struct run *run); /* the caller frees */

/* Adds up what was counted for a scope, and notes its teams. */
struct region_counts regions_count(const struct run *run, const struct entered *entered, uint32_t scope,
                                   struct teams *teams);

#endif
