/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `clusters of phases`: bursts, or visits, that are alike (González, Giménez, Labarta, Automatic detection of parallel
 * applications computation phases, IPDPS 2009). Each is a point whose dimensions are expressions of its metrics, scaled
 * to the range that they have; dense groups of points are clusters (query/folding/dbscan.h), a row each, noise the last
 * one.
 *
 * Score: where the sequences of clusters of all profiles are laid side by side, the share of a cluster's time in which
 * a burst is of the cluster that most profiles have at its place. 1: all profiles do the same one after the other.
 */
#include "common/hash.h"
#include "common/map.h"
#include "query/picture/chart.h"
#include "query/folding/dbscan.h"
#include "query/grammar/parse.h"
#include "query/picture/picture.h"
#include "query/views/stretches.h"
#include "query/views/views.h"
#include <math.h>
#include <string.h>
#include <strings.h>

enum { BURSTS, TIME, LENGTH, LENGTH_SD, SCORE, OWN, EACH = 2 };
enum { DRAWN_POINTS = 4000, NAMED = 10, LOOKED_AT = 200, AMONG = 20000 };
#define EPS_COUNTED 0.01 /* the reference's */
#define EPS_SAMPLED 0.05 /* shares of few samples spread further */
#define LEAST       10u

struct clustering {
    struct run *run;
    struct trace trace;
    struct visits bursts;
    size_t dimensions;
    const char *names[DBSCAN_DIMENSIONS];
    double *values; /* [bursts][dimensions] */
    double *points; /* the same, scaled, of those that have all values: */
    uint32_t *burst_of;
    size_t point_count;
    uint32_t *cluster; /* [bursts], DBSCAN_NOISE */
    uint32_t count;
    double eps;
    uint32_t least;
};

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* ---- dimensions ---- */

static double log_of(double x)
{
    return x > 0 ? log(x) : NAN;
}

/* By kind or, of PAPI, by name; SIZE_MAX none. */
static size_t counter(const struct db *db, const uint32_t *metrics, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcasecmp(db_string(db, db->metrics[metrics[i]].name), name))
            return i;
    return SIZE_MAX;
}

static void by_counters(struct clustering *c, const double *values, size_t count, size_t instructions, size_t cycles)
{
    c->dimensions = 2;
    c->names[0] = "log(instructions)";
    c->names[1] = "ipc";
    for (size_t i = 0; i < c->bursts.len; i++) {
        const double *v = values + i * count;

        c->values[2 * i] = log_of(v[instructions]);
        c->values[2 * i + 1] = v[cycles] > 0 ? v[instructions] / v[cycles] : NAN;
    }
}

static uint32_t procedure_at(const struct tree *t, const struct entities *e, uint32_t context)
{
    for (; context != HQDB_NONE; context = tree_parent(t, context))
        if (e->of[tree_scope_of(t, context)] != HQDB_NONE)
            return e->of[tree_scope_of(t, context)];
    return HQDB_NONE;
}

/* Adds each burst's samples of time to all[burst], those in `wanted` also to own[burst]; HQDB_NONE: counts them by
 * procedure in sums. */
static struct hq_error *count_samples(struct clustering *c, uint32_t wanted, double *own, double *all, double *sums)
{
    const struct tree *t = c->run->tree;
    const struct entities *e = run_entities(c->run);
    uint32_t metric = timeline_metric(t->db);
    struct db_trace_record r;

    for (size_t i = 0, end; i < c->bursts.len; i = end) {
        uint32_t profile = c->bursts.data[i].profile;
        int64_t offset = timeline_offset(&c->trace.time, profile);
        struct db_trace_reader *reader;

        for (end = i; end < c->bursts.len && c->bursts.data[end].profile == profile;)
            end++;
        HQ_TRY(db_trace_open(t->db, profile, &reader));
        for (size_t at = i; at < end && db_trace_next(reader, &r);) {
            uint64_t us = timeline_shift(offset, r.time_us);

            while (at < end && c->bursts.data[at].to_us <= us)
                at++;
            if (at == end || r.metric != metric || c->bursts.data[at].from_us > us)
                continue;
            uint32_t procedure = procedure_at(t, e, selection_context(&c->run->selection, r.frame));

            if (sums && procedure != HQDB_NONE)
                sums[procedure] += r.weight;
            if (all)
                all[at] += r.weight;
            if (own && procedure == wanted)
                own[at] += r.weight;
        }
        db_trace_close(reader);
    }
    return NULL;
}

static struct hq_error *by_samples(struct clustering *c)
{
    const struct entities *e = run_entities(c->run);
    AUTO_FREE double *sums = xcalloc((size_t)e->count + 1, sizeof *sums);
    AUTO_FREE double *own = xcalloc(c->bursts.len + 1, sizeof *own), *all = xcalloc(c->bursts.len + 1, sizeof *all);
    uint32_t largest = 0;

    HQ_TRY(count_samples(c, HQDB_NONE, NULL, NULL, sums));
    for (uint32_t i = 1; i < e->count; i++)
        largest = sums[i] > sums[largest] ? i : largest;
    HQ_TRY(count_samples(c, largest, own, all, NULL));
    c->dimensions = 2;
    c->names[0] = "log(length)";
    c->names[1] = e->count ? arena_printf(&c->run->arena, "share of %s",
                                          tree_scope_name(c->run->tree, e->scope[largest], &c->run->arena))
                           : "share";
    for (size_t i = 0; i < c->bursts.len; i++) {
        c->values[2 * i] = log_of((double)c->bursts.data[i].length_us / 1e6);
        c->values[2 * i + 1] = all[i] > 0 ? own[i] / all[i] : NAN;
    }
    return NULL;
}

static struct hq_error *by_expressions(struct clustering *c, const uint32_t *metrics, size_t count,
                                       const double *values)
{
    const struct view *view = &c->run->query->view;
    struct binding binding;
    struct program *program[DBSCAN_DIMENSIONS];
    struct hq_error *err = NULL;
    struct facts facts = {.rank = -1, .thread = -1, .name = ""};
    size_t slots = 2 * c->run->selection.measures.len;
    AUTO_FREE double *totals = xmalloc((slots + 1) * sizeof *totals);

    for (size_t i = 0; i < slots; i++)
        totals[i] = NAN;
    if (view->by.len > DBSCAN_DIMENSIONS)
        return place_error(&view->by.data[DBSCAN_DIMENSIONS]->place, NULL, "clusters have at most %d dimensions",
                           DBSCAN_DIMENSIONS);
    binding_init(&binding, c->run->env, &c->run->selection, &c->run->arena);
    binding.has_rows_of_profiles = true;
    binding.row_kinds = KIND_BIT(SCOPE_THREAD);
    c->dimensions = view->by.len;
    for (size_t k = 0; k < view->by.len && !err; k++) {
        c->names[k] = print_expr(&c->run->arena, view->by.data[k]);
        err = bind_expr(&binding, view->by.data[k], false, &program[k]);
        if (!err && program[k]->is_text)
            err = place_error(&view->by.data[k]->place, NULL, "this is a text, and a number is wanted here");
    }
    for (size_t i = 0; i < c->bursts.len && !err; i++) {
        struct point at = {point_number(),
                           stretch_slots(c->run, &c->bursts.data[i], metrics, count, values + i * count), totals, NULL,
                           &facts};

        for (size_t k = 0; k < c->dimensions; k++)
            c->values[i * c->dimensions + k] = program_number(program[k], &at);
    }
    binding_deinit(&binding);
    return err;
}

static struct hq_error *find_dimensions(struct clustering *c)
{
    const struct db *db = c->run->tree->db;
    size_t count;
    const uint32_t *metrics = stretches_metrics(c->run, &count);
    size_t instructions = counter(db, metrics, count, "PAPI_TOT_INS"),
           cycles = counter(db, metrics, count, "PAPI_TOT_CYC");
    AUTO_FREE double *values = xcalloc(c->bursts.len * count + 1, sizeof *values);
    bool counted = instructions != SIZE_MAX && cycles != SIZE_MAX;

    c->values = xcalloc(c->bursts.len * DBSCAN_DIMENSIONS + 1, sizeof *c->values);
    HQ_TRY(stretches_measure(c->run, &c->trace, &c->bursts, metrics, count, values));
    stretches_set_measures(c->run, &c->bursts, metrics, count, values);
    c->eps = c->run->query->view.eps > 0 ? c->run->query->view.eps : counted ? EPS_COUNTED : EPS_SAMPLED;
    c->least = c->run->query->view.least ? c->run->query->view.least : LEAST;
    if (c->run->query->view.by.len)
        return by_expressions(c, metrics, count, values);
    if (counted)
        by_counters(c, values, count, instructions, cycles);
    return counted ? NULL : by_samples(c);
}

/* ---- clusters ---- */

/* Each dimension to 0 .. 1. */
static void scale(struct clustering *c)
{
    size_t d = c->dimensions;
    double low[DBSCAN_DIMENSIONS], high[DBSCAN_DIMENSIONS];

    c->points = xcalloc(c->bursts.len * d + 1, sizeof *c->points);
    c->burst_of = xcalloc(c->bursts.len + 1, sizeof *c->burst_of);
    for (size_t i = 0; i < c->bursts.len; i++) {
        bool whole = true;

        for (size_t k = 0; k < d; k++)
            whole &= isfinite(c->values[i * d + k]) != 0;
        if (!whole)
            continue;
        for (size_t k = 0; k < d; k++) {
            double x = c->points[c->point_count * d + k] = c->values[i * d + k];

            low[k] = c->point_count ? fmin(low[k], x) : x;
            high[k] = c->point_count ? fmax(high[k], x) : x;
        }
        c->burst_of[c->point_count++] = (uint32_t)i;
    }
    for (size_t i = 0; i < c->point_count; i++)
        for (size_t k = 0; k < d; k++)
            c->points[i * d + k] = high[k] > low[k] ? (c->points[i * d + k] - low[k]) / (high[k] - low[k]) : 0;
}

struct largest {
    uint64_t time;
    uint32_t cluster;
};

static int compare_largest(const void *a, const void *b)
{
    const struct largest *x = a, *y = b;

    return x->time != y->time ? (x->time < y->time ? 1 : -1) : (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

/* The costliest is the first. */
static void find_clusters(struct clustering *c)
{
    AUTO_FREE uint32_t *found = xcalloc(c->point_count + 1, sizeof *found);

    c->count = dbscan(c->points, c->point_count, (unsigned)c->dimensions, c->eps, c->least, found);
    AUTO_FREE struct largest *order = xcalloc((size_t)c->count + 1, sizeof *order);
    AUTO_FREE uint32_t *number = xcalloc((size_t)c->count + 1, sizeof *number);

    c->cluster = xmalloc((c->bursts.len + 1) * sizeof *c->cluster);
    for (size_t i = 0; i < c->bursts.len; i++)
        c->cluster[i] = DBSCAN_NOISE;
    for (uint32_t k = 0; k < c->count; k++)
        order[k].cluster = k;
    for (size_t i = 0; i < c->point_count; i++)
        if (found[i] != DBSCAN_NOISE)
            order[found[i]].time += c->bursts.data[c->burst_of[i]].length_us;
    qsort(order, c->count, sizeof *order, compare_largest);
    for (uint32_t k = 0; k < c->count; k++)
        number[order[k].cluster] = k;
    for (size_t i = 0; i < c->point_count; i++)
        if (found[i] != DBSCAN_NOISE)
            c->cluster[c->burst_of[i]] = number[found[i]];
}

/* Where of half of the points the neighbour lies that makes a core of them: what eps has to reach. */
static double usual_distance(const struct clustering *c)
{
    size_t d = c->dimensions, step = c->point_count / AMONG + 1, looked = c->point_count / LOOKED_AT + 1, n = 0;
    size_t k = (c->least + step - 1) / step;
    AUTO_FREE double *distance = xcalloc(c->point_count / step + 2, sizeof *distance);
    AUTO_FREE double *kth = xcalloc(LOOKED_AT + 2, sizeof *kth);

    for (size_t i = 0; i < c->point_count && n <= LOOKED_AT; i += looked) {
        size_t m = 0;

        for (size_t j = 0; j < c->point_count; j += step) {
            double sum = 0;
            for (size_t q = 0; q < d; q++)
                sum += pow(c->points[i * d + q] - c->points[j * d + q], 2);
            distance[m++] = sqrt(sum);
        }
        qsort(distance, m, sizeof *distance, compare_numbers);
        kth[n++] = distance[k < m ? k : m - 1];
    }
    qsort(kth, n, sizeof *kth, compare_numbers);
    return n ? kth[n / 2] : 0;
}

/* ---- the score of the sequences ---- */

/* agrees[burst]: it is of the cluster that most profiles have at its place. False: there is one profile only. */
static bool agree(const struct clustering *c, uint8_t *agrees)
{
    struct map votes = {0}, best = {0};
    const struct visit *b = c->bursts.data;
    bool several = false;

    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0, place = 0; i < c->bursts.len; i++) {
            place = i && b[i].profile == b[i - 1].profile ? place + 1 : 0;
            several |= b[i].profile != b[0].profile;
            uint64_t key = hash_combine(place, c->cluster[i]);

            if (pass == 0) {
                ++*map_insert(&votes, key, 0, NULL);
            } else if (pass == 1) {
                uint64_t *most = map_insert(&best, place, 0, NULL), here = map_get(&votes, key, 0);
                *most = here > *most ? here : *most;
            } else {
                agrees[i] = map_get(&votes, key, 0) == map_get(&best, place, 0);
            }
        }
    map_deinit(&votes);
    map_deinit(&best);
    return several;
}

/* ---- rows ---- */

struct tally {
    double bursts, time, squares, agreed;
    double sum[DBSCAN_DIMENSIONS], square[DBSCAN_DIMENSIONS], n[DBSCAN_DIMENSIONS];
};

static double spread(double sum, double square, double n)
{
    double mean = sum / n, variance = square / n - mean * mean;

    return n > 0 ? sqrt(variance > 0 ? variance : 0) : NAN;
}

static void add_to(struct tally *t, const struct clustering *c, size_t i, bool agrees)
{
    double length = (double)c->bursts.data[i].length_us / 1e6;

    t->bursts++;
    t->time += length;
    t->squares += length * length;
    t->agreed += agrees ? length : 0;
    for (size_t k = 0; k < c->dimensions; k++) {
        double x = c->values[i * c->dimensions + k];

        if (!isfinite(x))
            continue;
        t->sum[k] += x;
        t->square[k] += x * x;
        t->n[k]++;
    }
}

static void set_measures(struct clustering *c, double time)
{
    static const struct {
        const char *name, *description;
        enum dim dim;
    } own[OWN] = {
        [BURSTS] = {"bursts", "how many there are", DIM_NONE},
        [TIME] = {"time", "how long they take together", DIM_SECONDS},
        [LENGTH] = {"length", "how long one takes in the mean", DIM_SECONDS},
        [LENGTH_SD] = {"length_sd", "the standard deviation of that", DIM_SECONDS},
        [SCORE] = {"score", "the share of its time that most profiles spend alike, one burst after the other",
                   DIM_NONE},
    };
    struct selection *s = &c->run->selection;

    vec_clear(&s->measures);
    for (size_t i = 0; i < OWN; i++)
        vec_push(&s->measures, measure_of_view(own[i].name, own[i].description, own[i].dim, own[i].dim ? 1e-6 : 1));
    measure_add(&s->measures.data[TIME], llround(time * 1e6));
    for (size_t k = 0; k < c->dimensions; k++) {
        vec_push(&s->measures, measure_of_view(c->names[k], "its mean", DIM_NONE, 1));
        vec_push(&s->measures,
                 measure_of_view(arena_printf(&c->run->arena, "%s_sd", c->names[k]), "its spread", DIM_NONE, 1));
    }
    s->here_count = s->measures.len;
}

static void add_row(struct clustering *c, const struct tally *t, uint32_t cluster, bool scored)
{
    struct run *run = c->run;
    size_t measures = OWN + EACH * c->dimensions;
    double *slots = ARENA_ARRAY(&run->arena, 2 * measures, double);
    struct node n;

    slots[2 * BURSTS] = t->bursts;
    slots[2 * TIME] = t->time;
    slots[2 * LENGTH] = t->time / t->bursts;
    slots[2 * LENGTH_SD] = spread(t->time, t->squares, t->bursts);
    slots[2 * SCORE] = scored && cluster != c->count ? t->agreed / t->time : NAN;
    for (size_t k = 0; k < c->dimensions; k++) {
        slots[2 * (OWN + EACH * k)] = t->n[k] > 0 ? t->sum[k] / t->n[k] : NAN;
        slots[2 * (OWN + EACH * k + 1)] = spread(t->sum[k], t->square[k], t->n[k]);
    }
    n = node_of_slots(slots_same(slots, measures));
    n.id = hash_combine(hash_str("cluster"), cluster);
    n.name = cluster == c->count ? "noise" : arena_printf(&run->arena, "cluster %u", cluster + 1);
    run->prepared.data[run->prepared.len++] = n;
}

static void add_rows(struct clustering *c)
{
    AUTO_FREE struct tally *tallies = xcalloc((size_t)c->count + 1, sizeof *tallies);
    AUTO_FREE uint8_t *agrees = xcalloc(c->bursts.len + 1, 1);
    bool scored = agree(c, agrees) && c->count;
    double time = 0, agreed = 0;
    char score[UNITS_TEXT], eps[UNITS_TEXT];

    for (size_t i = 0; i < c->bursts.len; i++)
        add_to(&tallies[c->cluster[i] == DBSCAN_NOISE ? c->count : c->cluster[i]], c, i, agrees[i]);
    c->run->prepared.data = ARENA_ARRAY(&c->run->arena, (size_t)c->count + 1, struct node);
    for (uint32_t k = 0; k <= c->count; k++) {
        time += tallies[k].time;
        agreed += tallies[k].agreed;
        if (tallies[k].bursts > 0)
            add_row(c, &tallies[k], k, scored);
    }
    set_measures(c, time);
    units_format(score, agreed / time, DIM_NONE);
    run_note(c->run, "%zu bursts, %u cluster%s with eps %s and at least %u points%s%s", c->bursts.len, c->count,
             c->count == 1 ? "" : "s", units_format(eps, c->eps, DIM_NONE), c->least,
             scored ? "; the sequences of all profiles agree in a share of " : "", scored ? score : "");
    if (c->point_count && (!c->count || tallies[c->count].time > 0.2 * time))
        run_note(c->run,
                 "noise has %.0f %% of the time: half of the bursts have neighbour number %u within %.2g, so try a "
                 "larger eps, or a smaller min",
                 100 * tallies[c->count].time / time, c->least, usual_distance(c));
}

/* ---- the picture ---- */

static struct chart_series *series_of(const struct clustering *c, struct arena *arena, size_t *count)
{
    size_t shown = c->count < NAMED ? c->count : NAMED, step = c->bursts.len / DRAWN_POINTS + 1;
    struct chart_series *series = ARENA_ARRAY(arena, shown + 1, struct chart_series);

    for (size_t k = 0; k <= shown; k++) {
        double *x = ARENA_ARRAY(arena, c->bursts.len / step + 1, double);
        double *y = ARENA_ARRAY(arena, c->bursts.len / step + 1, double);
        const char *name = k == shown ? (shown < c->count ? "others, noise" : "noise")
                                      : arena_printf(arena, "cluster %zu", k + 1);

        series[k] = (struct chart_series){
            .name = name, .colour = k == shown ? 0x999999 : palette_number((unsigned)k), .x = x, .y = y};
        for (size_t i = 0; i < c->bursts.len; i += step) {
            const double *v = c->values + i * c->dimensions;

            if ((c->cluster[i] < shown ? c->cluster[i] : shown) != k)
                continue;
            x[series[k].count] = v[0];
            y[series[k].count++] = c->dimensions > 1 ? v[1] : (double)c->bursts.data[i].number;
        }
    }
    *count = shown + 1;
    return series;
}

static void draw(const struct clustering *c)
{
    struct arena *arena = &c->run->table->arena;
    struct chart *chart = ARENA_NEW(arena, struct chart);
    struct chart_panel *panel = ARENA_NEW(arena, struct chart_panel);

    panel->title = c->dimensions > 1 ? arena_strdup(arena, c->names[1]) : "number of the burst";
    panel->series = series_of(c, arena, &panel->series_count);
    *chart = (struct chart){
        .title = arena_printf(arena, "%u clusters of %zu bursts", c->count, c->bursts.len),
        .x_name = arena_strdup(arena, c->names[0]),
        .panels = panel,
        .panel_count = 1,
    };
    c->run->table->chart = chart;
}

static struct hq_error *cluster(struct clustering *c)
{
    char *doubt = NULL;

    HQ_TRY(stretches_find(c->run, &c->trace, &c->bursts, &doubt));
    c->run->doubt = doubt ? arena_strdup(&c->run->table->arena, doubt) : NULL;
    if (doubt)
        run_note(c->run, "%s", doubt);
    free(doubt);
    HQ_TRY(find_dimensions(c));
    scale(c);
    find_clusters(c);
    if (c->bursts.len)
        add_rows(c);
    else
        run_note(c->run,
                 "there is no burst to cluster: record a run with a trace in which what you ask for is entered");
    if (!c->bursts.len)
        set_measures(c, 0);
    draw(c);
    return NULL;
}

static struct hq_error *clusters_prepare(struct run *run)
{
    struct clustering c = {.run = run};
    struct hq_error *err = trace_init(&c.trace, run, 1, 0, false);

    if (!err)
        err = cluster(&c);
    vec_deinit(&c.bursts);
    trace_deinit(&c.trace);
    free(c.values);
    free(c.points);
    free(c.burst_of);
    free(c.cluster);
    return err;
}

const struct view_row view_clusters = {
    .shape = SHAPE_LIST,
    .of_kinds = KINDS_PATH,
    .row_kinds = KIND_BIT(SCOPE_THREAD),
    .of_traces = true,
    .in_order = true,
    .prepare = clusters_prepare,
    .roots = roots_prepared,
};
