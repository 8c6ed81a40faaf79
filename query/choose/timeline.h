/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time in a database. Traces count microseconds from the start of their process; queries and pictures count from the
 * start of the run: the earliest start of any profile, by the clocks of the hosts.
 *
 * A sampler tells what a profile did at an instant: the nearest sample, as [tracing], section 5.2 has it, with one
 * exception. A sample stands for a period; where the next one comes later than several periods the thread was idle or
 * not on a CPU, and nothing is told for the time between but half a period at its ends. Of traces of spans nothing is
 * guessed.
 */
#ifndef HQ_QUERY_TIMELINE_H
#define HQ_QUERY_TIMELINE_H

#include "db/db.h"
#include "query/grammar/ast.h"

/* Periods beside the sample's own weight: a longer gap is left blank. */
enum { TIMELINE_GAP = 3 };

struct timeline {
    const struct db *db;
    uint64_t origin_us; /* since the epoch */
    uint64_t length_us; /* to the end of the last profile, at least 1 */
};

/* From the start of the first profile to the end of the last. */
struct timeline timeline_of(const struct db *db);

/* Returns the microseconds to add to the times of a profile's trace, so that those of all profiles can be compared. */
int64_t timeline_offset(const struct timeline *t, uint32_t profile);
/* A time with that added: not before 0, and INT64_MAX where it does not fit. */
uint64_t timeline_shift(int64_t offset, uint64_t us);
/* When a profile starts and ends. */
uint64_t timeline_start(const struct timeline *t, uint32_t profile);
uint64_t timeline_end(const struct timeline *t, uint32_t profile);
/* An instant of the language; at 100 % or after the end it is UINT64_MAX if it ends a slice, so that nothing is left
 * over. */
uint64_t timeline_instant(const struct timeline *t, const struct instant *i, bool ends);
/* It is a mistake if the run is over by then. `us`: what timeline_instant says. */
struct hq_error *timeline_reached(const struct timeline *t, const struct instant *i, uint64_t us);

/* Microseconds of wall clock that a weight of 1 stands for; 0 if the metric does not count time. */
double timeline_period_us(const struct db *db, uint32_t metric);

/* The metric whose traces tell where time went: the first of seconds, else the first that has traces; HQDB_NONE. */
uint32_t timeline_metric(const struct db *db);

/* Whether a record of the metric's traces is all that the thread did since the record before (format/database.h). */
static inline bool timeline_spans(const struct db *db, uint32_t metric)
{
    return metric < db->metric_count && db->metrics[metric].flags & HQDB_METRIC_SPANS;
}

/* Whether a record of several periods stands for the time just before it: of a thread that has waited. */
static inline bool timeline_is_elapsed(const struct db *db, uint32_t metric)
{
    return metric < db->metric_count && db->metrics[metric].flags & HQDB_METRIC_ELAPSED;
}

/* A record of nothing: the thread did not run, or was not there. */
static inline bool timeline_is_pause(const struct db *db, const struct db_trace_record *r)
{
    return !r->weight && timeline_spans(db, r->metric) && db_parent_frame(db, r->frame) == HQDB_NONE;
}

struct sampler {
    struct db_trace_reader *reader;
    const struct db *db;
    int64_t offset;
    double usual_us; /* period where the metric does not count time: the mean distance of samples; negative: not known
                        yet */
    struct db_trace_record before, after; /* the samples around the last instant, in time of the run */
    bool has_before, has_after, started;
    bool far; /* instants lie so far apart that each is looked up */
};

/* Reads the trace of a profile. HQ_DATA: it is damaged. Ended with sampler_close, after an error too. */
struct hq_error *sampler_open(struct sampler *s, const struct timeline *t, uint32_t profile);
void sampler_close(struct sampler *s);
/* The sample for an instant; false: blank. Ascending instants are the fast way through. */
bool sampler_at(struct sampler *s, uint64_t us, struct db_trace_record *out);

#endif
