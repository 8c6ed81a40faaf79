/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `fold of PATTERN`: all visits as one (query/folding/fold.h). A row per point of the mean visit: what is
 * representative there (query/folding/routines.h) with the line that most of its samples are in, and of each metric
 * that has traces its rate, a band of 95 % for it, and how far it has come. The pictures are drawn from the same
 * numbers.
 */
#include "common/hash.h"
#include "common/str.h"
#include "query/folding/fold.h"
#include "query/folding/routines.h"
#include "query/grammar/parse.h"
#include "query/measure/values.h"
#include "query/picture/chart.h"
#include "query/picture/picture.h"
#include "query/views/stretches.h"
#include "query/views/views.h"
#include <math.h>
#include <string.h>

enum { POINTS = 100, TIME = 0, OWN = 1, SUM = 0, RATE, LOW, HIGH, EACH, DRAWN_POINTS = 4000 };
/* Of the paper: runs of seven samples, and of 2.5 % of the region. */
static const struct routine_limits limits = {.samples = 7, .share = 0.025, .join = true};

struct folded_events { /* of one metric */
    struct fold_event *data;
    size_t len, cap;
};
struct folded_place {
    double x;
    uint32_t context;
};

struct fold {
    struct run *run;
    const struct trace *trace;
    const uint8_t *mark;
    struct visits visits; /* that are folded */
    double *length;       /* of each, seconds */
    double mean;          /* length */
    const uint32_t *metrics;
    size_t metric_count, points;
    struct folded_events *events; /* [metric_count] */
    struct {
        struct folded_place *data;
        size_t len, cap;
    } places; /* of the samples that tell where time went */
    struct routine_runs runs;
    struct fold_point **curves; /* [metric_count][points]; NULL: the metric has no sample in them */
    uint32_t *chain;            /* [points] run + 1, 0: none is representative */
};

/* ---- instances ---- */

/* Those that are whole and alike. */
static void choose(struct fold *f, const struct visits *all)
{
    enum instances instances = f->run->query->view.instances;
    AUTO_FREE double *lengths = xcalloc(all->len + 1, sizeof *lengths);
    AUTO_FREE uint8_t *keep = xcalloc(all->len + 1, 1);
    size_t whole = 0, at = 0;

    for (size_t i = 0; i < all->len; i++)
        if (!all->data[i].cut && all->data[i].length_us)
            lengths[whole++] = (double)all->data[i].length_us / 1e6;
    if (instances == INSTANCES_ALL)
        memset(keep, 1, whole);
    else
        fold_alike(lengths, whole, instances == INSTANCES_MAD, keep);
    for (size_t i = 0; i < all->len; i++)
        if (!all->data[i].cut && all->data[i].length_us && keep[at++])
            vec_push(&f->visits, all->data[i]);
    f->length = ARENA_ARRAY(&f->run->arena, f->visits.len + 1, double);
    for (size_t i = 0; i < f->visits.len; i++) {
        f->length[i] = (double)f->visits.data[i].length_us / 1e6;
        f->mean += f->length[i] / (double)f->visits.len;
    }
    if (!all->len)
        return;
    run_note(f->run, "%zu of %zu visits%s", f->visits.len, all->len,
             instances == INSTANCES_ALL   ? ", all that are whole"
             : instances == INSTANCES_MAD ? ", whole and within two median absolute deviations of the median length"
                                          : ", whole and within two standard deviations of the mean length");
}

/* ---- samples ---- */

static void add_sample(struct fold *f, const struct db_trace_record *r, uint64_t us, size_t visit,
                       const size_t *place_of, uint32_t clock)
{
    const struct visit *v = &f->visits.data[visit];
    const struct hqdb_metric *m = &f->run->tree->db->metrics[r->metric];
    double x = ((double)(us - v->from_us) + 0.5) / (double)v->length_us;

    if (place_of[r->metric])
        vec_push(&f->events[place_of[r->metric] - 1],
                 (struct fold_event){x, (double)m->period * r->weight * m->scale, (uint32_t)visit});
    if (r->metric == clock)
        vec_push(&f->places, (struct folded_place){x, selection_context(&f->run->selection, r->frame)});
}

/* The samples of the visits of one profile: first .. end - 1. */
static struct hq_error *gather(struct fold *f, size_t first, size_t end, const size_t *place_of)
{
    uint32_t profile = f->visits.data[first].profile, clock = timeline_metric(f->run->tree->db);
    int64_t offset = timeline_offset(&f->trace->time, profile);
    struct db_trace_reader *reader;
    struct db_trace_record r;

    HQ_TRY(db_trace_open(f->run->tree->db, profile, &reader));
    while (first < end && db_trace_next(reader, &r)) {
        uint64_t us = timeline_shift(offset, r.time_us);

        while (first < end && f->visits.data[first].to_us <= us)
            first++;
        if (first < end && f->visits.data[first].from_us <= us)
            add_sample(f, &r, us, first, place_of, clock);
    }
    db_trace_close(reader);
    return NULL;
}

static struct hq_error *gather_all(struct fold *f)
{
    AUTO_FREE size_t *place_of = xcalloc(f->run->tree->db->metric_count + 1, sizeof *place_of);

    for (size_t i = 0; i < f->metric_count; i++)
        place_of[f->metrics[i]] = i + 1;
    for (size_t first = 0, end; first < f->visits.len; first = end) {
        for (end = first; end < f->visits.len && f->visits.data[end].profile == f->visits.data[first].profile;)
            end++;
        if (run_interrupted(f->run))
            return hq_error_new(QUERY_INTERRUPTED, "interrupted");
        HQ_TRY(gather(f, first, end, place_of));
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
static struct routine_sample levels_of(struct fold *f, const struct folded_place *p)
{
    const struct tree *t = f->run->tree;
    struct routine_sample s = {.x = p->x};
    uint32_t outermost = p->context, *levels;

    for (uint32_t c = p->context; c != HQDB_NONE; c = tree_parent(t, c))
        outermost = f->mark[c] ? c : outermost;
    for (uint32_t c = p->context; c != HQDB_NONE; c = c == outermost ? HQDB_NONE : tree_parent(t, c))
        s.depth += c == outermost || is_routine(t, c);
    s.levels = levels = ARENA_ARRAY(&f->run->arena, s.depth + 1, uint32_t);
    for (uint32_t c = p->context, i = s.depth; c != HQDB_NONE; c = c == outermost ? HQDB_NONE : tree_parent(t, c))
        if (c == outermost || is_routine(t, c))
            levels[--i] = tree_scope_of(t, c);
    return s;
}

static void find_routines(struct fold *f)
{
    AUTO_FREE struct routine_sample *samples = xcalloc(f->places.len + 1, sizeof *samples);

    if (f->places.len)
        qsort(f->places.data, f->places.len, sizeof *f->places.data, compare_places);
    for (size_t i = 0; i < f->places.len; i++)
        samples[i] = levels_of(f, &f->places.data[i]);
    routines_find(samples, f->places.len, limits, &f->runs);
    f->chain = ARENA_ARRAY(&f->run->arena, f->points, uint32_t);
    for (size_t r = 0; r < f->runs.len; r++) /* those within come later */
        for (size_t i = 0; i < f->points; i++) {
            double x = ((double)i + 0.5) / (double)f->points;

            if (f->runs.data[r].from <= x && x < f->runs.data[r].to)
                f->chain[i] = (uint32_t)r + 1;
        }
}

/* The line of most of the samples of a run, in the routine itself; 0 none. */
static uint32_t line_of(const struct fold *f, const struct routine_run *r)
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

/* "solve > smooth [12]" */
static const char *chain_text(struct fold *f, uint32_t run)
{
    AUTO_STR struct str out = {0};
    const char *names[64];
    size_t n = 0;
    uint32_t line = line_of(f, &f->runs.data[run]);

    for (uint32_t r = run; r != UINT32_MAX && n < 64; r = f->runs.data[r].parent)
        names[n++] = tree_scope_name(f->run->tree, f->runs.data[r].routine, &f->run->arena);
    while (n-- > 0)
        str_addf(&out, "%s%s", names[n], n ? " > " : "");
    if (line)
        str_addf(&out, " [%u]", line);
    return arena_strdup(&f->run->arena, str_cstr(&out));
}

/* ---- rows ---- */

static void set_measures(struct fold *f)
{
    struct selection *s = &f->run->selection;
    const struct db *db = f->run->tree->db;
    VEC(struct measure) made = {0};

    vec_push(&made, measure_of_view("time", "since the visit began", DIM_SECONDS, 1));
    for (size_t k = 0; k < f->metric_count; k++) {
        const struct hqdb_metric *m = &db->metrics[f->metrics[k]];
        const char *name = db_string(db, m->name);
        static const struct {
            const char *suffix, *description;
        } each[EACH] = {[SUM] = {"_sum", "how much of it there was since the visit began"},
                        [RATE] = {"", "how much of it there is a second"},
                        [LOW] = {"_low", "the rate is not below this, at 95 %"},
                        [HIGH] = {"_high", "nor above this"}};

        /* A rate of seconds per second is a plain number. */
        for (size_t e = 0; e < EACH; e++)
            vec_push(&made,
                     measure_of_view(arena_printf(&f->run->arena, "%s%s", name, each[e].suffix), each[e].description,
                                     e != SUM && m->dimension == DIM_SECONDS ? DIM_NONE : (enum dim)m->dimension, 1));
    }
    vec_clear(&s->measures);
    for (size_t i = 0; i < made.len; i++)
        vec_push(&s->measures, made.data[i]);
    s->here_count = made.len;
    vec_deinit(&made);
}

static void add_rows(struct fold *f)
{
    struct run *run = f->run;
    size_t measures = OWN + EACH * f->metric_count;
    AUTO_FREE const char **texts = xcalloc(f->runs.len + 1, sizeof *texts);

    run->prepared.data = ARENA_ARRAY(&run->arena, f->points, struct node);
    run->prepared.len = f->points;
    for (size_t i = 0; i < f->points; i++) {
        double *slots = ARENA_ARRAY(&run->arena, 2 * measures, double);
        uint32_t at = f->chain[i];
        struct node n;

        slots[2 * TIME] = ((double)i + 0.5) / (double)f->points * f->mean;
        for (size_t k = 0; k < f->metric_count; k++) {
            const struct fold_point *p = f->curves[k] ? &f->curves[k][i] : NULL;
            double *own = slots + 2 * (OWN + EACH * k);

            own[2 * SUM] = p ? p->sum : NAN;
            own[2 * RATE] = p ? p->rate : NAN;
            own[2 * LOW] = p ? p->low : NAN;
            own[2 * HIGH] = p ? p->high : NAN;
        }
        if (at && !texts[at - 1])
            texts[at - 1] = chain_text(f, at - 1);
        n = node_of_slots(slots_same(slots, measures));
        n.id = hash_combine(hash_str("point"), i);
        n.name = arena_printf(&run->arena, "%.4g %%", 100 * ((double)i + 0.5) / (double)f->points);
        n.text = at ? texts[at - 1] : "(nothing for long)";
        run->prepared.data[i] = n;
    }
}

/* ---- the picture ---- */

static const char *routine_name(const struct fold *f, uint32_t routine, struct arena *arena)
{
    return arena_strdup(arena, tree_scope_name(f->run->tree, routine, &f->run->arena));
}

/* leaves: the deepest ones alone. */
static const struct chart_band *bands_of(const struct fold *f, struct arena *arena, bool leaves, size_t *count)
{
    struct chart_band *bands = ARENA_ARRAY(arena, f->runs.len + 1, struct chart_band);

    *count = 0;
    for (size_t i = 0; i < f->runs.len; i++) {
        const struct routine_run *r = &f->runs.data[i];
        const char *name = routine_name(f, r->routine, arena);

        if (!leaves || r->leaf)
            bands[(*count)++] = (struct chart_band){r->from * f->mean, r->to * f->mean, r->level,
                                                    palette_colour(name, values_family(f->run, r->routine)), name};
    }
    return bands;
}

static const struct chart_series *lines_of(const struct fold *f, struct arena *arena)
{
    size_t step = f->places.len / DRAWN_POINTS + 1, n = 0;
    struct chart_series *s = ARENA_NEW(arena, struct chart_series);
    double *x = ARENA_ARRAY(arena, f->places.len / step + 1, double),
           *y = ARENA_ARRAY(arena, f->places.len / step + 1, double);

    for (size_t i = 0; i < f->places.len; i += step) {
        const struct hqdb_scope *scope = tree_scope(f->run->tree,
                                                    tree_scope_of(f->run->tree, f->places.data[i].context));

        x[n] = f->places.data[i].x * f->mean;
        y[n++] = scope->kind == SCOPE_LINE && scope->line ? scope->line : NAN;
    }
    *s = (struct chart_series){.name = "line of a sample", .colour = 0xc03080, .x = x, .y = y, .count = n};
    return s;
}

static const struct chart_series *rates_of(const struct fold *f, struct arena *arena, size_t *count)
{
    static const uint32_t colours[] = {0x000000, 0xc02020, 0x2050c0, 0x208040, 0x906000, 0x7030a0};
    struct chart_series *series = ARENA_ARRAY(arena, f->metric_count + 1, struct chart_series);

    *count = 0;
    for (size_t k = 0; k < f->metric_count; k++) {
        const struct hqdb_metric *m = &f->run->tree->db->metrics[f->metrics[k]];
        double *values = ARENA_ARRAY(arena, 4 * f->points + 1, double);

        if (!f->curves[k])
            continue;
        for (size_t i = 0; i < f->points; i++) {
            values[i] = ((double)i + 0.5) / (double)f->points * f->mean;
            values[f->points + i] = f->curves[k][i].rate;
            values[2 * f->points + i] = f->curves[k][i].low;
            values[3 * f->points + i] = f->curves[k][i].high;
        }
        series[*count] = (struct chart_series){
            .name = arena_printf(arena, "%s a second", db_string(f->run->tree->db, m->name)),
            .colour = colours[*count % 6],
            .x = values,
            .y = values + f->points,
            .low = values + 2 * f->points,
            .high = values + 3 * f->points,
            .count = f->points,
            .line = true,
            .dim = m->dimension == DIM_SECONDS ? DIM_NONE : (enum dim)m->dimension,
        };
        ++*count;
    }
    return series;
}

static void draw(struct fold *f, const char *pattern)
{
    struct arena *arena = &f->run->table->arena;
    struct chart *chart = ARENA_NEW(arena, struct chart);
    struct chart_panel *p = ARENA_ARRAY(arena, 3, struct chart_panel);

    p[0].title = "routines";
    p[0].bands = bands_of(f, arena, false, &p[0].band_count);
    p[1].title = "source lines";
    p[1].bands = bands_of(f, arena, true, &p[1].band_count);
    p[1].series = lines_of(f, arena);
    p[1].series_count = 1;
    p[2].title = "rates, each on its own scale, with bands of 95 %";
    p[2].own_scales = true;
    p[2].bands = p[1].bands;
    p[2].band_count = p[1].band_count;
    p[2].series = rates_of(f, arena, &p[2].series_count);
    *chart = (struct chart){
        .title = arena_printf(arena, "fold of %s: %zu visits as one", pattern, f->visits.len),
        .x_name = "time in the mean visit",
        .x_dim = DIM_SECONDS,
        .to = f->mean,
        .panels = p,
        .panel_count = 3,
    };
    f->run->table->chart = chart;
}

/* ---- what cannot be folded ---- */

static void note_poor(struct fold *f, const char *pattern)
{
    size_t counters = 0;

    for (size_t k = 0; k < f->metric_count; k++)
        counters += f->run->tree->db->metrics[f->metrics[k]].dimension != DIM_SECONDS;
    if (f->visits.len == 1)
        run_note(f->run, "there is one visit only, so nothing tells how sure its rates are: record a run with more, or "
                         "ask for something that is visited more often");
    if (!counters)
        run_note(f->run, "no counter was sampled with a trace, so the rates are those of time alone: record with "
                         "-e CPUTIME -e PAPI_TOT_INS@1000000, or another event of `hq record --list`");
    if (f->places.len < 10 * limits.samples)
        run_note(f->run,
                 "%zu samples lie in the visits to %s, too few for what runs when: record a longer run or with a "
                 "higher rate (-e CPUTIME@1000/s)",
                 f->places.len, pattern);
}

static struct hq_error *fold_visits(struct fold *f)
{
    HQ_TRY(gather_all(f));
    find_routines(f);
    f->curves = ARENA_ARRAY(&f->run->arena, f->metric_count + 1, struct fold_point *);
    for (size_t k = 0; k < f->metric_count; k++) {
        f->curves[k] = ARENA_ARRAY(&f->run->arena, f->points, struct fold_point);
        if (run_interrupted(f->run))
            return hq_error_new(QUERY_INTERRUPTED, "interrupted");
        if (!fold_curve(f->events[k].data, f->events[k].len, (struct fold_instances){f->length, f->visits.len},
                        f->curves[k], f->points))
            f->curves[k] = NULL;
    }
    add_rows(f);
    return NULL;
}

static struct hq_error *prepare(struct fold *f, struct trace *t)
{
    struct run *run = f->run;
    struct visits all = {0};
    char *doubt = NULL;
    const char *pattern = print_pattern(&run->arena, run->query->view.of);
    struct hq_error *err = stretches_of(run, t, f->mark, &all, &doubt);

    if (!err && doubt)
        err = place_error(&run->query->view.of->place, NULL,
                          "its visits cannot be folded: %s; or mark them in the "
                          "program by hq_phase_begin (hq.h)",
                          doubt);
    if (!err)
        choose(f, &all);
    if (!err && f->visits.len)
        err = fold_visits(f);
    if (!err && f->visits.len) {
        note_poor(f, pattern);
        draw(f, pattern);
    }
    if (!err && !f->visits.len && !matches_nothing(&run->of))
        run_note(run,
                 "there is no whole visit to %s to fold: record a run in which it is entered and left, with a trace, "
                 "or mark it in the program by hq_phase_begin (hq.h)",
                 pattern);
    free(doubt);
    vec_deinit(&all);
    return err;
}

static struct hq_error *fold_prepare(struct run *run)
{
    struct trace t;
    struct hq_error *err = trace_init(&t, run, 1, 0, false);
    AUTO_FREE uint8_t *mark = matches_mark(&run->of, run->tree);
    struct fold f = {.run = run, .trace = &t, .mark = mark};

    f.points = run->query->view.points ? run->query->view.points : POINTS;
    f.metrics = stretches_metrics(run, &f.metric_count);
    f.events = xcalloc(f.metric_count + 1, sizeof *f.events);
    if (!err)
        err = prepare(&f, &t);
    set_measures(&f);
    for (size_t k = 0; k < f.metric_count; k++)
        vec_deinit(&f.events[k]);
    free(f.events);
    vec_deinit(&f.visits);
    vec_deinit(&f.places);
    vec_deinit(&f.runs);
    trace_deinit(&t);
    return err;
}

const struct view_row view_fold = {
    .shape = SHAPE_LIST,
    .of_kinds = KINDS_PATH,
    .row_kinds = KIND_BIT(SCOPE_THREAD),
    .of_traces = true,
    .in_order = true,
    .beside = "routines",
    .prepare = fold_prepare,
    .roots = roots_prepared,
};
