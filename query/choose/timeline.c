/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/choose/timeline.h"
#include "query/grammar/parse.h"
#include <math.h>

#define STEPS_BEFORE_SEEK 200 /* a seek decodes half a block of 256 */

static uint64_t start_of_process(const struct hqdb_profile *p)
{
    return p->start_realtime_ns / 1000;
}

struct timeline timeline_of(const struct db *db)
{
    struct timeline t = {.db = db, .origin_us = UINT64_MAX};
    uint64_t end = 0;

    for (size_t i = 0; i < db->profile_count; i++) {
        const struct hqdb_profile *p = &db->profiles[i];
        uint64_t from = start_of_process(p) + p->start_us, to = start_of_process(p) + p->end_us;
        t.origin_us = from < t.origin_us ? from : t.origin_us;
        end = to > end ? to : end;
    }
    if (!db->profile_count)
        t.origin_us = 0;
    t.length_us = end > t.origin_us ? end - t.origin_us : 1;
    return t;
}

int64_t timeline_offset(const struct timeline *t, uint32_t profile)
{
    return (int64_t)(start_of_process(&t->db->profiles[profile]) - t->origin_us);
}

uint64_t timeline_shift(int64_t offset, uint64_t us)
{
    int64_t sum;

    if (us > INT64_MAX || __builtin_add_overflow(offset, (int64_t)us, &sum))
        return INT64_MAX;
    return sum < 0 ? 0 : (uint64_t)sum;
}

uint64_t timeline_start(const struct timeline *t, uint32_t profile)
{
    return timeline_shift(timeline_offset(t, profile), t->db->profiles[profile].start_us);
}

uint64_t timeline_end(const struct timeline *t, uint32_t profile)
{
    return timeline_shift(timeline_offset(t, profile), t->db->profiles[profile].end_us);
}

uint64_t timeline_instant(const struct timeline *t, const struct instant *i, bool ends)
{
    double us = i->percent ? i->value / 100 * (double)t->length_us : i->value * 1e6;

    if (ends && us >= (double)t->length_us)
        return UINT64_MAX;
    return us >= 9e18 ? INT64_MAX : us > 0 ? (uint64_t)llround(us) : 0;
}

struct hq_error *timeline_reached(const struct timeline *t, const struct instant *i, uint64_t us)
{
    return us > t->length_us
               ? place_error(&i->place, NULL, "the run is over by then: it takes %.6g s", (double)t->length_us / 1e6)
               : NULL;
}

uint32_t timeline_metric(const struct db *db)
{
    uint32_t first = HQDB_NONE;

    for (uint32_t m = 0; m < db->metric_count; m++) {
        const struct hqdb_metric *metric = &db->metrics[m];

        if (!(metric->flags & HQDB_METRIC_TRACED))
            continue;
        if (metric->dimension == DIM_SECONDS)
            return m;
        first = first == HQDB_NONE ? m : first;
    }
    return first;
}

double timeline_period_us(const struct db *db, uint32_t metric)
{
    const struct hqdb_metric *m = &db->metrics[metric];
    double us = (double)m->period * m->scale * 1e6;

    return m->dimension == DIM_SECONDS && isfinite(us) && us > 0 ? us : 0;
}

struct hq_error *sampler_open(struct sampler *s, const struct timeline *t, uint32_t profile)
{
    *s = (struct sampler){.db = t->db, .offset = timeline_offset(t, profile), .usual_us = -1};
    return db_trace_open(t->db, profile, &s->reader);
}

void sampler_close(struct sampler *s)
{
    if (s->reader)
        db_trace_close(s->reader);
    s->reader = NULL;
}

static bool read_next(struct sampler *s)
{
    s->has_after = db_trace_next(s->reader, &s->after);
    if (s->has_after)
        s->after.time_us = timeline_shift(s->offset, s->after.time_us);
    return s->has_after;
}

static void seek(struct sampler *s, uint64_t us)
{
    int64_t time;

    if (us > INT64_MAX || __builtin_sub_overflow((int64_t)us, s->offset, &time))
        time = INT64_MAX;
    db_trace_seek(s->reader, time > 0 ? (uint64_t)time : 0);
    s->has_before = false;
    s->started = true;
    read_next(s);
}

/* Makes `before` the last sample at or before the instant and `after` the one that follows. */
static void move_to(struct sampler *s, uint64_t us)
{
    if (!s->started || (s->has_before && s->before.time_us > us) || (s->far && s->has_after && s->after.time_us <= us))
        seek(s, us);
    for (int step = 0; s->has_after && s->after.time_us <= us; step++) {
        if (step == STEPS_BEFORE_SEEK) {
            s->far = true;
            seek(s, us);
            continue;
        }
        s->before = s->after;
        s->has_before = true;
        read_next(s);
    }
}

/* Looks at the index of the whole trace, so only where it is needed. */
static double usual_distance(struct sampler *s)
{
    uint64_t records, first, last;

    if (s->usual_us < 0) {
        bool several = db_trace_extent(s->reader, &records, &first, &last) && records > 1 && last > first;
        s->usual_us = several ? (double)(last - first) / (double)(records - 1) : 0;
    }
    return s->usual_us;
}

static bool is_weighed(const struct sampler *s, const struct db_trace_record *r)
{
    return r->metric < s->db->metric_count && s->db->metrics[r->metric].flags & HQDB_METRIC_WEIGHED;
}

static double period_of(struct sampler *s, const struct db_trace_record *r)
{
    double us = timeline_period_us(s->db, r->metric);

    return us > 0 ? is_weighed(s, r) ? us * r->weight : us : usual_distance(s);
}

/* The time before it that a sample stands for. */
static double own_time(struct sampler *s, const struct db_trace_record *r)
{
    return is_weighed(s, r) ? period_of(s, r) : period_of(s, r) * r->weight;
}

bool sampler_at(struct sampler *s, uint64_t us, struct db_trace_record *out)
{
    move_to(s, us);
    if (!s->has_before && !s->has_after)
        return false;
    if (s->has_after && timeline_spans(s->db, s->after.metric)) {
        *out = s->after;
        return s->has_before && !timeline_is_pause(s->db, out);
    }
    double after = s->has_after ? (double)s->after.time_us - (double)us : INFINITY;
    double before = s->has_before ? (double)us - (double)s->before.time_us : INFINITY;
    double own = s->has_after ? own_time(s, &s->after) : 0;
    double half = s->has_before ? period_of(s, &s->before) / 2 : 0;
    bool gap = !s->has_after || !s->has_before || after + before > own + TIMELINE_GAP * period_of(s, &s->after);
    /* The next one may stand for several instants, the first of which lies so much earlier. */
    double lead = own > 0 && timeline_is_elapsed(s->db, s->after.metric) ? own - period_of(s, &s->after) : 0;
    /* Beside a gap a sample stands for half a period behind it and the rest before it: in all for its own time. */
    bool takes_after = gap ? after <= own - half : after - lead <= before;

    if (gap && !takes_after && !(s->has_before && before <= half))
        return false;
    *out = takes_after ? s->after : s->before;
    return true;
}
