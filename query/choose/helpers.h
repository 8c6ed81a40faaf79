/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles that are not the program's: launchers (db/launchers.def), where anything else was measured, and helpers. A
 * helper is a created thread in none of whose samples is a frame of the program or of a library outside the table of
 * runtimes (db/runtimes.def), but one of a runtime: it was made by MPI or a driver for itself. A worker of OpenMP is
 * none.
 *
 * They are left out of statistics over profiles, and of all values that count elapsed time, of which each has as much
 * as the run is long whatever it does. What they cost of anything else stays where it is. A busy helper has at least 1
 * % of the processor time of its process, and stays in statistics of what is not elapsed time.
 */
#ifndef HQ_QUERY_HELPERS_H
#define HQ_QUERY_HELPERS_H

#include "db/db.h"

enum stands { STANDS_IN, STANDS_LAUNCHER, STANDS_HELPER, STANDS_BUSY_HELPER };

struct helpers {
    uint8_t *of;               /* [profile_count] enum stands; NULL: all are the program's */
    size_t launchers, threads; /* how many; threads with the busy ones */
    bool elapsed;              /* a metric counts elapsed time */
};

/* Looks at all profiles; the values of one only until the first frame that is the program's. */
void helpers_find(const struct db *db, struct helpers *out);
void helpers_deinit(struct helpers *h);

/* The process of a profile: equal for its threads, different for those of others (by a hash). */
uint64_t helpers_process(const struct hqdb_profile *p);

/* Whether a metric counts elapsed time, also while a thread sleeps. */
bool metric_is_elapsed(const struct db *db, uint32_t metric);
/* Whether any does. */
bool any_is_elapsed(const struct db *db);

/* Whether statistics leave a profile out. */
bool helpers_aside(const struct helpers *h, uint32_t profile);

struct run;
/* Says how many launchers and helpers were left out of something, and what they cost in a metric; HQDB_NONE: in the
 * first one. of_ranks: it is of ranks alone, so threads of no rank were, too. Nothing if there are none, or it is said
 * already. */
void helpers_note(struct run *run, const char *of, uint32_t metric, bool of_ranks);
/* Calls helpers_note for the metrics that the query uses, as far as they count elapsed time. */
void helpers_note_elapsed(struct run *run);

#endif
