/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `fold of PATTERN`, `fold of cluster N`: all visits as one (query/views/folded.h). A row per point of the mean visit:
 * what is representative there with the line that most of its samples are in, and of each metric that has traces its
 * rate, a band of 95 % for it, and how far it has come.
 *
 * With `compare with` the other database is folded by the same question, and both stand on one scale of time, that of
 * the longer mean visit: a row is an instant since the visit began, and what one side has there it has after the same
 * time, not at the same share of its work.
 */
#include "query/views/fold.h"
#include "common/hash.h"
#include "query/views/views.h"
#include <math.h>
#include <string.h>
#include <strings.h>

enum { POINTS = 100, TIME = 0, OWN = 1, SUM = 0, RATE, LOW, HIGH, EACH };

struct view_of_fold {
    struct run *run;
    struct folded here, old;
    struct run *other; /* of the other database; NULL without */
    size_t *partner;   /* [here.metric_count] the metric of the other side, SIZE_MAX none */
};

/* ---- measures ---- */

static const struct {
    const char *suffix, *description;
    bool compared; /* a difference is told */
} each[EACH] = {[SUM] = {"_sum", "how much of it there was since the visit began", true},
                [RATE] = {"", "how much of it there is a second", true},
                [LOW] = {"_low", "the rate is not below this, at 95 %", false},
                [HIGH] = {"_high", "nor above this", false}};

/* A rate of seconds per second is a plain number. */
static struct measure measure_of(const struct folded *f, size_t metric, int e)
{
    const struct db *db = f->run->tree->db;
    const struct hqdb_metric *m = &db->metrics[f->metrics[metric]];

    return measure_of_view(arena_printf(&f->run->arena, "%s%s", db_string(db, m->name), each[e].suffix),
                           each[e].description,
                           e != SUM && m->dimension == DIM_SECONDS ? DIM_NONE : (enum dim)m->dimension, 1);
}

static size_t slot_of(size_t metric, int e)
{
    return OWN + EACH * metric + (size_t)e;
}

/* Behind those of this side: of one of them its value on the other side and, if it is told, the difference. */
static void add_sides(struct selection *s, size_t here, struct measure old, bool compared)
{
    size_t at = s->measures.len;

    old.name = old.event = s->measures.data[here].name;
    old.side = SIDE_OLD;
    vec_push(&s->measures, old);
    if (!compared)
        return;
    old.side = SIDE_DELTA;
    old.here_measure = here;
    old.old_measure = at;
    vec_push(&s->measures, old);
}

static void add_compared(struct view_of_fold *v)
{
    struct selection *s = &v->run->selection;

    add_sides(s, TIME, s->measures.data[TIME], true); /* the same on both, so that old.time means nothing else */
    for (size_t k = 0; k < v->here.metric_count; k++)
        for (int e = 0; e < EACH && v->partner[k] != SIZE_MAX; e++)
            add_sides(s, slot_of(k, e), measure_of(&v->old, v->partner[k], e), each[e].compared);
}

static void set_measures(struct view_of_fold *v)
{
    struct selection *s = &v->run->selection;
    VEC(struct measure) made = {0};

    vec_push(&made, measure_of_view("time", "since the visit began", DIM_SECONDS, 1));
    for (size_t k = 0; k < v->here.metric_count; k++)
        for (int e = 0; e < EACH; e++)
            vec_push(&made, measure_of(&v->here, k, e));
    vec_clear(&s->measures);
    for (size_t i = 0; i < made.len; i++)
        vec_push(&s->measures, made.data[i]);
    s->here_count = made.len;
    vec_deinit(&made);
    if (v->partner)
        add_compared(v);
}

/* By name. */
static void find_partners(struct view_of_fold *v)
{
    const struct db *db = v->run->tree->db, *old = v->other->tree->db;

    v->partner = ARENA_ARRAY(&v->run->arena, v->here.metric_count + 1, size_t);
    for (size_t k = 0; k < v->here.metric_count; k++) {
        const char *name = db_string(db, db->metrics[v->here.metrics[k]].name);

        v->partner[k] = SIZE_MAX;
        for (size_t i = 0; i < v->old.metric_count; i++)
            if (!strcasecmp(db_string(old, old->metrics[v->old.metrics[i]].name), name))
                v->partner[k] = i;
        if (v->partner[k] == SIZE_MAX)
            run_note(v->run, "only this database has a trace of the metric %s", name);
    }
}

/* ---- rows ---- */

static double value_of(const struct folded *f, size_t metric, size_t point, int e)
{
    const struct fold_point *p = f->visits.len && f->curves[metric] ? &f->curves[metric][point] : NULL;

    return !p ? NAN : e == SUM ? p->sum : e == RATE ? p->rate : e == LOW ? p->low : p->high;
}

static double *slots_at(struct view_of_fold *v, size_t point)
{
    size_t measures = v->run->selection.measures.len, at = v->run->selection.here_count;
    double *slots = ARENA_ARRAY(&v->run->arena, 2 * measures, double);

    slots[2 * TIME] = folded_time(&v->here, point);
    for (size_t k = 0; k < v->here.metric_count; k++)
        for (int e = 0; e < EACH; e++)
            slots[2 * slot_of(k, e)] = value_of(&v->here, k, point, e);
    if (v->other) {
        slots[2 * at++] = slots[2 * TIME];
        slots[2 * at++] = 0;
    }
    for (size_t k = 0; k < v->here.metric_count && v->other; k++)
        for (int e = 0; e < EACH && v->partner[k] != SIZE_MAX; e++) {
            double old = value_of(&v->old, v->partner[k], point, e);

            slots[2 * at++] = old;
            if (each[e].compared)
                slots[2 * at++] = slots[2 * slot_of(k, e)] - old;
        }
    return slots_same(slots, measures);
}

/* Returns the representative routine at a point; NULL if the mean visit is over. */
static const char *routine_at(const struct folded *f, size_t point, const char **texts)
{
    uint32_t at = f->chain[point];

    if (folded_time(f, point) >= f->mean)
        return NULL;
    if (!at)
        return "(nothing for long)";
    if (!texts[at - 1])
        texts[at - 1] = folded_chain(f, at - 1, true);
    return texts[at - 1];
}

static const char *routines_at(struct view_of_fold *v, size_t point, const char **texts, const char **old_texts)
{
    const char *here = routine_at(&v->here, point, texts), *old;

    if (!v->other)
        return here;
    old = routine_at(&v->old, point, old_texts);
    here = here ? here : "(over)";
    old = old ? old : "(over)";
    return strcmp(here, old) ? arena_printf(&v->run->arena, "%s | old: %s", here, old) : here;
}

static const char *name_of(struct view_of_fold *v, size_t point)
{
    char text[UNITS_TEXT];

    if (!v->other)
        return arena_printf(&v->run->arena, "%.4g %%", 100 * ((double)point + 0.5) / (double)v->here.points);
    return arena_strdup(&v->run->arena, units_format(text, folded_time(&v->here, point), DIM_SECONDS));
}

static void add_rows(struct view_of_fold *v)
{
    struct run *run = v->run;
    AUTO_FREE const char **texts = xcalloc(v->here.runs.len + 1, sizeof *texts);
    AUTO_FREE const char **old_texts = xcalloc(v->old.runs.len + 1, sizeof *old_texts);

    run->prepared.data = ARENA_ARRAY(&run->arena, v->here.points, struct node);
    run->prepared.len = v->here.points;
    for (size_t i = 0; i < v->here.points; i++) {
        struct node n = node_of_slots(slots_at(v, i));

        n.id = hash_combine(hash_str("point"), i);
        n.name = name_of(v, i);
        n.text = routines_at(v, i, texts, old_texts);
        run->prepared.data[i] = n;
    }
}

static void note_rates(const struct folded *f)
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
}

/* ---- two of them ---- */

struct duration { /* of a routine, in all of its runs that have none within */
    const char *name;
    double seconds[2];
};

/* How long the routines last that most changes are in. */
static void note_durations(struct view_of_fold *v)
{
    const struct folded *side[2] = {&v->here, &v->old};
    VEC(struct duration) all = {0};
    char text[2][UNITS_TEXT];

    for (int s = 0; s < 2; s++)
        for (size_t r = 0; r < side[s]->runs.len; r++) {
            const struct routine_run *run = &side[s]->runs.data[r];
            const char *name = run->leaf ? folded_chain(side[s], (uint32_t)r, false) : NULL;
            size_t i = 0;

            while (name && i < all.len && strcmp(all.data[i].name, name))
                i++;
            if (name && i == all.len)
                vec_push(&all, (struct duration){.name = arena_strdup(&v->run->arena, name)});
            if (name)
                all.data[i].seconds[s] += (run->to - run->from) * side[s]->mean;
        }
    for (size_t i = 0; i < all.len; i++)
        if (fabs(all.data[i].seconds[0] - all.data[i].seconds[1]) > 0.02 * v->here.span)
            run_note(v->run, "%s lasts %s, and %s in %s", all.data[i].name,
                     units_format(text[0], all.data[i].seconds[0], DIM_SECONDS),
                     units_format(text[1], all.data[i].seconds[1], DIM_SECONDS), v->run->query->samples.compare);
    vec_deinit(&all);
}

static void note_means(struct view_of_fold *v)
{
    char here[UNITS_TEXT], old[UNITS_TEXT];

    run_note(v->run, "the mean visit takes %s, and %s in %s (%+.1f %%)", units_format(here, v->here.mean, DIM_SECONDS),
             units_format(old, v->old.mean, DIM_SECONDS), v->run->query->samples.compare,
             100 * (v->here.mean / v->old.mean - 1));
    note_durations(v);
}

/* The other side, folded by the same question; its notes say whose they are. */
static struct hq_error *choose_other(struct view_of_fold *v)
{
    struct table *t = v->run->table;
    size_t told = t->notes.len;

    HQ_TRY(run_other(v->run, &v->other));
    v->old.run = v->other;
    HQ_TRY(folded_choose(&v->old));
    for (size_t i = told; i < t->notes.len; i++)
        t->notes.data[i] = arena_printf(&t->arena, "%s: %s", v->run->query->samples.compare, t->notes.data[i]);
    find_partners(v);
    return NULL;
}

/* ---- the whole ---- */

static struct hq_error *fold_both(struct view_of_fold *v)
{
    uint32_t asked = v->run->query->view.points;
    size_t points = asked ? asked : POINTS;
    double span = v->other ? fmax(v->here.mean, v->old.mean) : v->here.mean;
    const struct folded *side[2] = {&v->here, v->other ? &v->old : NULL};

    HQ_TRY(folded_fit(&v->here, points, span));
    if (v->other)
        HQ_TRY(folded_fit(&v->old, points, span));
    set_measures(v);
    add_rows(v);
    note_rates(&v->here);
    folded_note_poor(&v->here);
    if (v->other)
        note_means(v);
    fold_draw(side, v->run->query->samples.compare);
    return NULL;
}

static struct hq_error *prepare(struct view_of_fold *v)
{
    HQ_TRY(folded_choose(&v->here));
    if (v->run->query->samples.compare)
        HQ_TRY(choose_other(v));
    if (v->here.visits.len && (!v->other || v->old.visits.len))
        return fold_both(v);
    set_measures(v);
    return NULL;
}

static struct hq_error *fold_prepare(struct run *run)
{
    struct view_of_fold v = {.run = run, .here = {.run = run}};
    struct hq_error *err = prepare(&v);

    folded_deinit(&v.here);
    folded_deinit(&v.old);
    run_other_end(v.other);
    return err;
}

const struct view_row view_fold = {
    .shape = SHAPE_LIST,
    .of_kinds = KINDS_PATH,
    .row_kinds = KIND_BIT(SCOPE_THREAD),
    .of_traces = true,
    .in_order = true,
    .compares = true,
    .beside = "routines",
    .prepare = fold_prepare,
    .roots = roots_prepared,
};
