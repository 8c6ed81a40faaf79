/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/views/folded.h"
#include "common/mem.h"
#include "query/choose/growth.h"
#include "query/views/clustering.h"
#include "query/grammar/parse.h"
#include "query/views/views.h"
#include <math.h>
#include <string.h>

/* ---- samples ---- */

struct gathering {
    struct folded *f;
    const size_t *place_of; /* [metric of the database] + 1, 0: not folded */
    uint32_t clock;         /* the metric whose samples tell where time went */
    bool by_running;        /* places are by CPU time */
    struct growth growth;   /* of the profile at hand */
};

/* How far each counter had come at a sample of a clock, where all of them are looked at. */
static void add_counted(const struct gathering *g, double x, uint64_t us, size_t visit)
{
    struct folded *f = g->f;

    for (size_t k = 0; k < f->metric_count; k++) {
        double total = f->totals[k] ? f->totals[k][visit] : 0;
        double come = total > 0 ? growth_between(&g->growth, f->metrics[k], f->visits.data[visit].from_us, us) : 0;

        if (total > 0)
            vec_push(&f->counted[k], (struct fold_event){x, fmin(come / total, 1), (uint32_t)visit});
    }
}

static void add_sample(const struct gathering *g, const struct db_trace_record *r, uint64_t us, size_t visit)
{
    struct folded *f = g->f;
    const struct visit *v = &f->visits.data[visit];
    const struct hqdb_metric *m = &f->run->tree->db->metrics[r->metric];
    double x = ((double)(us - v->from_us) + 0.5) / (double)v->length_us;

    if (g->by_running) {
        x = growth_between(&g->growth, g->clock, v->from_us, us) * f->run->tree->db->metrics[g->clock].scale /
            f->length[visit];
        if (r->metric != g->clock || !(x >= 0 && x <= 1))
            return; /* CPU time is looked at where a clock fires */
    }
    if (g->place_of[r->metric])
        vec_push(&f->events[g->place_of[r->metric] - 1],
                 (struct fold_event){x, (double)m->period * r->weight * m->scale, (uint32_t)visit});
    if (r->metric != g->clock)
        return;
    vec_push(&f->places, (struct folded_place){x, selection_context(&f->run->selection, r->frame), (uint32_t)visit});
    if (m->dimension == DIM_SECONDS)
        add_counted(g, x, us, visit);
}

/* The samples of the visits of one profile: first .. end - 1. */
static struct hq_error *gather(const struct gathering *g, size_t first, size_t end)
{
    struct folded *f = g->f;
    uint32_t profile = f->visits.data[first].profile;
    int64_t offset = timeline_offset(&f->trace.time, profile);
    struct db_trace_reader *reader;
    struct db_trace_record r;

    for (size_t k = 0; k < f->metric_count; k++)
        for (size_t i = first; f->totals[k] && i < end; i++)
            f->totals[k][i] = growth_between(&g->growth, f->metrics[k], f->visits.data[i].from_us,
                                             f->visits.data[i].to_us);
    HQ_TRY(db_trace_open(f->run->tree->db, profile, &reader));
    while (first < end && db_trace_next(reader, &r)) {
        uint64_t us = timeline_shift(offset, r.time_us);

        while (first < end && f->visits.data[first].to_us <= us)
            first++;
        if (first < end && f->visits.data[first].from_us <= us)
            add_sample(g, &r, us, first);
    }
    db_trace_close(reader);
    return NULL;
}

/* Counters that were looked at where each visit begins and ends. Of a clock the samples themselves tell. */
static void find_counted(struct folded *f)
{
    const struct db *db = f->run->tree->db;
    bool marked = true;

    for (size_t i = 0; i < f->visits.len; i++)
        marked &= f->visits.data[i].marked;
    for (size_t k = 0; k < f->metric_count && marked; k++) {
        const struct hqdb_metric *m = &db->metrics[f->metrics[k]];

        if (m->flags & HQDB_METRIC_COUNTED && (m->flags & HQDB_METRIC_EXACT || m->dimension != DIM_SECONDS))
            f->totals[k] = ARENA_ARRAY(&f->run->arena, f->visits.len + 1, double);
    }
}

static struct hq_error *gather_all(struct folded *f)
{
    AUTO_FREE size_t *place_of = xcalloc(f->run->tree->db->metric_count + 1, sizeof *place_of);
    struct gathering g = {f, place_of, timeline_metric(f->run->tree->db), f->run->query->view.on_running, {0}};

    find_counted(f);
    for (size_t i = 0; i < f->metric_count; i++)
        place_of[f->metrics[i]] = i + 1;
    for (size_t first = 0, end; first < f->visits.len; first = end) {
        for (end = first; end < f->visits.len && f->visits.data[end].profile == f->visits.data[first].profile;)
            end++;
        if (run_interrupted(f->run))
            return hq_error_new(QUERY_INTERRUPTED, "interrupted");
        g.growth = growth_of(&f->trace.time, f->visits.data[first].profile);
        struct hq_error *err = gather(&g, first, end);

        growth_deinit(&g.growth);
        HQ_TRY(err);
    }
    return NULL;
}

/* ---- the whole ---- */

/* Whether what was read of a counter tells more than its own samples do. */
static bool is_counted(const struct folded *f, size_t metric)
{
    enum { ENOUGH = 20 };
    const double *totals = f->totals[metric];
    bool known = totals != NULL;

    for (size_t i = 0; known && i < f->visits.len; i++)
        known = !isnan(totals[i]);
    return known && (f->counted[metric].len >= ENOUGH || !f->events[metric].len);
}

static int fit_curve(struct folded *f, size_t metric, double span)
{
    struct fold_instances visits = {f->length, f->visits.len};
    const struct db *db = f->run->tree->db;
    size_t far;

    if (is_counted(f, metric)) {
        int some = fold_counted(f->counted[metric].data, f->counted[metric].len, visits, f->totals[metric],
                                f->curves[metric], f->points, span / f->mean, &far);
        if (far)
            run_note(
                f->run,
                "%s: %zu of %zu readings are far from all others, in visits that something held up, and have no say in "
                "its curve",
                db_string(db, db->metrics[f->metrics[metric]].name), far, f->counted[metric].len);
        return some;
    }
    return fold_curve(f->events[metric].data, f->events[metric].len, visits, f->curves[metric], f->points,
                      span / f->mean);
}

struct hq_error *folded_fit(struct folded *f, size_t points, double span)
{
    f->points = points;
    f->span = span;
    HQ_TRY(gather_all(f));
    HQ_TRY(folded_find_routines(f));
    f->curves = ARENA_ARRAY(&f->run->arena, f->metric_count + 1, struct fold_point *);
    if (f->run->query->view.on_running && !f->places.len)
        return place_error(&f->run->query->view.on_place, NULL,
                           "the CPU time at samples is not known: it is noted by hq from 0.2.0 on; record again, with "
                           "-e CPUTIME");
    for (size_t k = 0; k < f->metric_count; k++) {
        f->curves[k] = ARENA_ARRAY(&f->run->arena, points, struct fold_point);
        if (run_interrupted(f->run))
            return hq_error_new(QUERY_INTERRUPTED, "interrupted");
        if (!fit_curve(f, k, span))
            f->curves[k] = NULL;
    }
    return NULL;
}

void folded_deinit(struct folded *f)
{
    for (size_t k = 0; k < f->metric_count; k++) {
        vec_deinit(&f->events[k]);
        vec_deinit(&f->counted[k]);
    }
    free(f->events);
    free(f->counted);
    free(f->totals);
    free(f->mark);
    vec_deinit(&f->visits);
    vec_deinit(&f->places);
    vec_deinit(&f->runs);
    trace_deinit(&f->trace);
}
