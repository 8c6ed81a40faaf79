/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `routines of PATTERN`, `routines of cluster N`: the representative routines of the mean visit (query/views/folded.h),
 * a row each in the order in which they run, those within one behind it: when one begins, how long it lasts, how sure
 * that is, and how much of each metric lies in it.
 */
#include "common/hash.h"
#include "query/views/folded.h"
#include "query/views/views.h"
#include <math.h>

enum { BEGIN, LENGTH, LOW, HIGH, OWN, POINTS = 1000 };

/* How unsure a border is, however many samples there are: what runs between two routines, and what the kernel
 * takes from a timer's interrupt to where it notes the time. Of `adi` (doc/phases.md) borders are off by 3 to 10 us. */
#define BLUR 10e-6

static void set_measures(const struct folded *f)
{
    static const struct {
        const char *name, *description;
    } own[OWN] = {[BEGIN] = {"begin", "when it begins, since the visit did"},
                  [LENGTH] = {"length", "how long it takes"},
                  [LOW] = {"length_low", "it takes no less than this, at 95 %"},
                  [HIGH] = {"length_high", "nor more than this"}};
    const struct db *db = f->run->tree->db;
    struct selection *s = &f->run->selection;

    vec_clear(&s->measures);
    for (int i = 0; i < OWN; i++)
        vec_push(&s->measures, measure_of_view(own[i].name, own[i].description, DIM_SECONDS, 1e-6));
    measure_add(&s->measures.data[LENGTH], llround(f->mean * 1e6));
    for (size_t k = 0; k < f->metric_count; k++) {
        const struct hqdb_metric *m = &db->metrics[f->metrics[k]];

        vec_push(&s->measures, measure_of_view(db_string(db, m->name), db_string(db, m->description),
                                               (enum dim)m->dimension, m->scale));
    }
    s->here_count = s->measures.len;
}

/* How far a metric has come at a place, 0 to 1, of the mean visit: the curve is known in the middles of its points. */
static double come_at(const struct folded *f, size_t metric, double x)
{
    const struct fold_point *curve = f->curves[metric];
    double at = x * (double)f->points - 0.5, part;
    size_t before;

    if (!curve)
        return NAN;
    at = fmin(fmax(at, 0), (double)f->points - 1);
    before = (size_t)at;
    part = at - (double)before;
    return before + 1 < f->points ? curve[before].sum * (1 - part) + curve[before + 1].sum * part : curve[before].sum;
}

static const double *slots_of(const struct folded *f, const struct routine_run *r)
{
    size_t measures = OWN + f->metric_count;
    double *slots = ARENA_ARRAY(&f->run->arena, 2 * measures, double), length = (r->to - r->from) * f->mean,
           sure = r->marked || r->parent == UINT32_MAX ? 0 : hypot(r->sure * f->mean, BLUR);

    slots[2 * BEGIN] = r->from * f->mean;
    slots[2 * LENGTH] = length;
    slots[2 * LOW] = isnan(sure) ? NAN : fmax(length - sure, 0);
    slots[2 * HIGH] = length + sure;
    for (size_t k = 0; k < f->metric_count; k++)
        slots[2 * (OWN + k)] = come_at(f, k, r->to) - come_at(f, k, r->from);
    return slots_same(slots, measures);
}

static void add_rows(const struct folded *f)
{
    struct run *run = f->run;

    run->prepared.data = ARENA_ARRAY(&run->arena, f->runs.len + 1, struct node);
    run->prepared.len = f->runs.len;
    for (size_t i = 0; i < f->runs.len; i++) {
        const struct routine_run *r = &f->runs.data[i];
        struct node n = node_of_slots(slots_of(f, r));

        n.id = hash_combine(hash_str("routine"), i);
        n.name = tree_scope_name(run->tree, r->routine, &run->arena);
        n.text = folded_chain(f, (uint32_t)i, true);
        run->prepared.data[i] = n;
    }
}

static void note_sources(const struct folded *f)
{
    size_t marked = 0;

    for (size_t i = 0; i < f->runs.len; i++)
        marked += f->runs.data[i].marked;
    if (marked)
        run_note(f->run, "%zu of %zu are known by the marks of their own visits, the others by %zu samples", marked,
                 f->runs.len, f->places.len);
    else
        run_note(f->run, "known by %zu samples; --mark gives the exact times of what it names", f->places.len);
}

static struct hq_error *fit(struct folded *f)
{
    f->wants_spread = true;
    HQ_TRY(folded_fit(f, POINTS, f->mean));
    set_measures(f);
    add_rows(f);
    note_sources(f);
    folded_note_poor(f);
    return NULL;
}

static struct hq_error *routines_prepare(struct run *run)
{
    struct folded f = {.run = run};
    struct hq_error *err = folded_choose(&f);

    if (!err && f.visits.len)
        err = fit(&f);
    else if (!err)
        set_measures(&f);
    folded_deinit(&f);
    return err;
}

const struct view_row view_routines = {
    .shape = SHAPE_LIST,
    .of_kinds = KINDS_PATH,
    .row_kinds = KIND_BIT(SCOPE_THREAD),
    .of_traces = true,
    .in_order = true,
    .beside = "path",
    .prepare = routines_prepare,
    .roots = roots_prepared,
};
