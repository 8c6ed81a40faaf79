/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/views/folded.h"
#include "common/map.h"
#include "common/mem.h"
#include "common/str.h"
#include "query/choose/growth.h"
#include "query/folding/alignment.h"
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
    vec_push(&f->places, (struct folded_place){x, selection_context(&f->run->selection, r->frame)});
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

/* ---- routines ---- */

static int compare_places(const void *a, const void *b)
{
    const struct folded_place *x = a, *y = b;

    return x->x != y->x ? (x->x < y->x ? -1 : 1) : (x->context > y->context) - (x->context < y->context);
}

static bool is_routine(const struct tree *t, uint32_t c)
{
    enum scope_kind kind = tree_kind(t, c);

    return scope_is_called(kind) || kind == SCOPE_INLINE || kind == SCOPE_REGION || kind == SCOPE_PHASE;
}

/* From what was folded, which is the first level, to where the sample was. */
static struct routine_sample levels_of(struct folded *f, const struct folded_place *p)
{
    const struct tree *t = f->run->tree;
    struct routine_sample s = {.x = p->x};
    uint32_t outermost = HQDB_NONE, *levels;

    for (uint32_t c = p->context; c != HQDB_NONE; c = tree_parent(t, c))
        outermost = f->mark ? (f->mark[c] ? c : outermost) : is_routine(t, c) ? c : outermost;
    outermost = outermost == HQDB_NONE ? p->context : outermost;
    for (uint32_t c = p->context; c != HQDB_NONE; c = c == outermost ? HQDB_NONE : tree_parent(t, c))
        s.depth += c == outermost || is_routine(t, c);
    s.levels = levels = ARENA_ARRAY(&f->run->arena, s.depth + 1, uint32_t);
    for (uint32_t c = p->context, i = s.depth; c != HQDB_NONE; c = c == outermost ? HQDB_NONE : tree_parent(t, c))
        if (c == outermost || is_routine(t, c))
            levels[--i] = tree_scope_of(t, c);
    return s;
}

/* `frames`: the innermost ones alone, as a tool would have them that looks no further. What is inlined has no frame,
 * nor has a phase. */
static struct routine_sample frames_of(struct folded *f, const struct folded_place *p)
{
    const struct tree *t = f->run->tree;
    struct routine_sample s = {.x = p->x};
    uint32_t most = f->run->query->view.frames, found[FOLD_CALLERS + 1], *levels;

    for (uint32_t c = p->context; c != HQDB_NONE && s.depth < most; c = tree_parent(t, c))
        if (scope_is_called(tree_kind(t, c)) || tree_kind(t, c) == SCOPE_REGION)
            found[s.depth++] = tree_scope_of(t, c);
    s.levels = levels = ARENA_ARRAY(&f->run->arena, s.depth + 1, uint32_t);
    for (uint32_t i = 0; i < s.depth; i++)
        levels[i] = found[s.depth - 1 - i];
    return s;
}

static void align(struct folded *f, struct routine_sample *samples)
{
    f->aligned = alignment_make(samples, f->places.len, &f->run->arena);
    run_note(f->run, "frames %u+1: %zu of %zu samples could be put together", f->run->query->view.frames - 1,
             f->aligned, f->places.len);
}

static void find_routines(struct folded *f)
{
    AUTO_FREE struct routine_sample *samples = xcalloc(f->places.len + 1, sizeof *samples);
    uint32_t frames = f->run->query->view.frames;

    if (f->places.len)
        qsort(f->places.data, f->places.len, sizeof *f->places.data, compare_places);
    for (size_t i = 0; i < f->places.len; i++)
        samples[i] = (frames ? frames_of : levels_of)(f, &f->places.data[i]);
    if (frames)
        align(f, samples);
    routines_find(samples, f->places.len, FOLDED_LIMITS, &f->runs);
    f->chain = ARENA_ARRAY(&f->run->arena, f->points, uint32_t);
    for (size_t r = 0; r < f->runs.len; r++) /* those within come later */
        for (size_t i = 0; i < f->points; i++) {
            double x = folded_time(f, i) / f->mean;

            if (f->runs.data[r].from <= x && x < f->runs.data[r].to)
                f->chain[i] = (uint32_t)r + 1;
        }
}

/* The line of most of the samples of a run, in the routine itself; 0 none. */
static uint32_t line_of(const struct folded *f, const struct routine_run *r)
{
    struct map lines = {0};
    uint64_t key, count, most = 0, best = 0;

    for (uint32_t i = r->first; i < r->end; i++) {
        uint32_t c = f->places.data[i].context;
        const struct hqdb_scope *s = tree_scope(f->run->tree, tree_scope_of(f->run->tree, c));

        if (s->kind == SCOPE_LINE && s->line)
            ++*map_insert(&lines, s->line, 0, NULL);
    }
    for (size_t pos = 0; map_next(&lines, &pos, &key, &count);)
        if (count > most || (count == most && key < best)) {
            most = count;
            best = key;
        }
    map_deinit(&lines);
    return (uint32_t)best;
}

const char *folded_chain(const struct folded *f, uint32_t run, bool with_line)
{
    AUTO_STR struct str out = {0};
    const char *names[64];
    size_t n = 0;
    uint32_t line = with_line ? line_of(f, &f->runs.data[run]) : 0;

    for (uint32_t r = run; r != UINT32_MAX && n < 64; r = f->runs.data[r].parent)
        names[n++] = tree_scope_name(f->run->tree, f->runs.data[r].routine, &f->run->arena);
    while (n-- > 0)
        str_addf(&out, "%s%s", names[n], n ? " > " : "");
    if (line)
        str_addf(&out, " [%u]", line);
    return arena_strdup(&f->run->arena, str_cstr(&out));
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
    find_routines(f);
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
