/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `clusters of phases`: bursts, or visits, that are alike (query/views/clustering.h), a row a cluster, noise the last
 * one.
 *
 * Score: where the sequences of clusters of all profiles are laid side by side, the share of a cluster's time in which
 * a burst is of the cluster that most profiles have at its place. 1: all profiles do the same one after the other.
 */
#include "common/hash.h"
#include "common/map.h"
#include "query/picture/chart.h"
#include "query/views/clustering.h"
#include "query/picture/picture.h"
#include "query/views/views.h"
#include <float.h>
#include <math.h>

enum { BURSTS, TIME, LENGTH, LENGTH_SD, SCORE, OWN, EACH = 2 };
enum { DRAWN_POINTS = 4000 };

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

/* A variance that the rounding of its sums explains is none: equal values have no spread. */
static double spread(double sum, double square, double n)
{
    double mean = sum / n, variance = square / n - mean * mean;

    return n > 0 ? sqrt(variance > square * DBL_EPSILON ? variance : 0) : NAN;
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
    run_note(c->run, "%zu burst%s, %u cluster%s with eps %s and at least %u points%s%s", c->bursts.len,
             c->bursts.len == 1 ? "" : "s", c->count, c->count == 1 ? "" : "s", units_format(eps, c->eps, DIM_NONE),
             c->least, scored ? "; the sequences of all profiles agree in a share of " : "", scored ? score : "");
    if (c->point_count && c->point_count < c->least)
        run_note(c->run, "too few bursts for a cluster of %u points: try a smaller min, or record a longer run",
                 c->least);
    else if (c->point_count && (!c->count || tallies[c->count].time > 0.2 * time))
        run_note(c->run,
                 "noise has %.0f %% of the time: half of the bursts have neighbour number %u within %.2g, so try a "
                 "larger eps, or a smaller min",
                 100 * tallies[c->count].time / time, c->least, clustering_distance(c));
}

/* ---- the picture ---- */

static struct chart_series *series_of(const struct clustering *c, struct arena *arena, size_t *count)
{
    size_t shown = c->count < CLUSTERING_NAMED ? c->count : CLUSTERING_NAMED, step = c->bursts.len / DRAWN_POINTS + 1;
    struct chart_series *series = ARENA_ARRAY(arena, shown + 1, struct chart_series);

    for (size_t k = 0; k <= shown; k++) {
        uint32_t number = k == shown ? DBSCAN_NOISE : (uint32_t)k;
        double *x = ARENA_ARRAY(arena, c->bursts.len / step + 1, double);
        double *y = ARENA_ARRAY(arena, c->bursts.len / step + 1, double);

        series[k] = (struct chart_series){
            .name = clustering_name(c, number, arena), .colour = clustering_colour(number), .x = x, .y = y};
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
        .title = arena_printf(arena, "%u cluster%s of %zu burst%s", c->count, c->count == 1 ? "" : "s", c->bursts.len,
                              c->bursts.len == 1 ? "" : "s"),
        .x_name = arena_strdup(arena, c->names[0]),
        .panels = panel,
        .panel_count = 1,
    };
    c->run->table->chart = chart;
}

static void note_none(struct run *run)
{
    const char *hint = trace_device_hint(run);

    run_unmeasured(
        run, "%s",
        hint ? hint : "there is no burst to cluster: record a run with a trace in which what you ask for is entered");
}

static struct hq_error *cluster(struct clustering *c)
{
    HQ_TRY(clustering_make(c));
    c->run->doubt = c->doubt;
    if (c->doubt)
        run_note(c->run, "%s", c->doubt);
    if (c->bursts.len)
        add_rows(c);
    else
        note_none(c->run);
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
    clustering_deinit(&c);
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
