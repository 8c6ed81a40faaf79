/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/views/stretches.h"
#include "common/mem.h"
#include "common/str.h"
#include "query/choose/growth.h"
#include "query/views/views.h"
#include <math.h>
#include <stdlib.h>

/* ---- what is no computing ---- */

static bool is_mpi(const char *name)
{
    name += *name == 'P';
    return str_begins(name, "MPI_");
}

/* By context, what bounds bursts where the question names nothing. */
struct bounds {
    uint8_t *all;     /* MPI, and waiting */
    uint8_t *mpi;     /* calls of MPI alone */
    uint8_t *waits;   /* waiting outside of them */
    uint8_t *regions; /* parallel ones: where they begin and end is a bound, too */
};

static void bounds_deinit(struct bounds *b)
{
    free(b->all);
    free(b->mpi);
    free(b->waits);
    free(b->regions);
}

static struct bounds default_bounds(struct run *run)
{
    const struct tree *t = run->tree;
    size_t n = (size_t)t->context_count + 1;
    struct bounds b = {xcalloc(n, 1), xcalloc(n, 1), xcalloc(n, 1), xcalloc(n, 1)};

    for (uint32_t c = 0; c < t->context_count; c++) {
        enum scope_kind kind = tree_kind(t, c);

        b.mpi[c] = kind == SCOPE_PROCEDURE && is_mpi(tree_scope_name(t, tree_scope_of(t, c), &run->arena));
        b.all[c] = b.mpi[c] || kind == SCOPE_WAIT;
        b.regions[c] = kind == SCOPE_REGION;
    }
    AUTO_FREE uint8_t *in_mpi = contexts_within(t, b.mpi);
    for (uint32_t c = 0; c < t->context_count; c++)
        b.waits[c] = b.all[c] && !in_mpi[c];
    return b;
}

/* ---- bursts ---- */

struct cutting {
    const struct selection *s;
    const struct timeline *time;
    struct visit next; /* number of the burst before */
    struct visits *out;
};

static void add_burst(struct cutting *c, uint64_t from, uint64_t to)
{
    if (to <= from)
        return;
    c->next.number++;
    c->next.from_us = from;
    c->next.to_us = to;
    visits_take(c->s, c->next, c->out);
}

/* A burst, cut where regions begin and end. */
static void split_burst(struct cutting *c, uint64_t from, uint64_t to, const struct visit *regions, size_t count,
                        size_t *at)
{
    while (*at < count && regions[*at].to_us <= from)
        ++*at;
    for (size_t i = *at; i < count && regions[i].from_us < to; i++) {
        uint64_t begin = regions[i].from_us > from ? regions[i].from_us : from;
        uint64_t end = regions[i].to_us < to ? regions[i].to_us : to;

        add_burst(c, from, begin);
        add_burst(c, begin, end);
        from = end;
    }
    add_burst(c, from, to);
}

/* Cuts the time of a profile into the stretches between visits. */
static void cut_profile(struct cutting *c, const struct visits *between, size_t first, const struct visits *regions,
                        size_t first_region)
{
    uint32_t profile = c->next.profile;
    uint64_t from = timeline_start(c->time, profile), end = timeline_end(c->time, profile);
    const struct visit *r = regions->data + first_region;
    size_t at = 0, count = regions->len - first_region;

    for (size_t i = first; i < between->len; i++) {
        split_burst(c, from, between->data[i].from_us, r, count, &at);
        from = between->data[i].to_us > from ? between->data[i].to_us : from;
    }
    split_burst(c, from, end, r, count, &at);
}

struct outside {
    const uint8_t *mark; /* by context: what bounds bursts */
    uint8_t *within;
    struct visits visits; /* of all profiles so far */
};

static struct hq_error *add_outside(struct run *run, const struct trace *t, uint32_t profile, struct outside *o)
{
    struct selection all = run->selection;

    all.sliced = false; /* bounds are looked for in all of the time */
    return visits_add_own(&all, &t->time, profile, o->mark, o->within, &o->visits);
}

static int by_begin(const void *a, const void *b)
{
    const struct visit *x = a, *y = b;

    return x->from_us < y->from_us ? -1 : x->from_us > y->from_us;
}

/* Puts the visits of a profile in o[1] among those in o[0], which begin at `first`. */
static void join(struct outside o[2], size_t first, size_t more)
{
    struct visits *to = &o[0].visits;

    if (o[1].visits.len > more)
        vec_append(to, o[1].visits.data + more, o[1].visits.len - more);
    if (to->len - first > 1)
        qsort(to->data + first, to->len - first, sizeof *to->data, by_begin);
}

/* Returns the doubts about the visits, NULL if there are none: marked calls of MPI are certain, waiting that is seen by
 * samples is not. */
static char *doubt_of(const struct run *run, const struct outside o[2])
{
    if (!o[1].mark)
        return visits_doubt(&o[0].visits, run->tree);
    return o[1].visits.len ? visits_doubt(&o[1].visits, run->tree) : NULL;
}

static struct hq_error *find_bursts(struct run *run, const struct trace *t, struct outside o[2], const uint8_t *regions,
                                    struct visits *out)
{
    struct selection all = run->selection;
    bool marked = regions && visits_are_marked(&run->selection, regions);
    struct visits teams = {0};
    struct hq_error *err = NULL;

    all.sliced = false;
    for (uint32_t i = 0; i < t->profile_count && !err; i++) {
        struct cutting c = {&run->selection, &t->time, {.profile = t->profiles[i]}, out};
        size_t first = o[0].visits.len, more = o[1].visits.len, first_team = teams.len;

        if (run_interrupted(run))
            err = hq_error_new(QUERY_INTERRUPTED, "interrupted");
        for (int k = 0; k < 2 && !err && o[k].mark; k++)
            err = add_outside(run, t, t->profiles[i], &o[k]);
        if (!err && marked)
            err = visits_add(&all, &t->time, t->profiles[i], regions, regions, &teams);
        if (!err) {
            join(o, first, more);
            cut_profile(&c, &o[0].visits, first, &teams, first_team);
        }
    }
    vec_deinit(&teams);
    return err;
}

static struct hq_error *bursts_find(struct run *run, const struct trace *t, const uint8_t *between, struct visits *out,
                                    char **doubt)
{
    AUTO(bounds_deinit) struct bounds b = between ? (struct bounds){0} : default_bounds(run);
    bool marked = b.mpi && visits_are_marked(&run->selection, b.mpi);
    struct outside o[2] = {{.mark = between ? between : marked ? b.mpi : b.all}, {.mark = marked ? b.waits : NULL}};

    *doubt = NULL;
    for (int k = 0; k < 2 && o[k].mark; k++)
        o[k].within = contexts_within(run->tree, o[k].mark);
    struct hq_error *err = find_bursts(run, t, o, b.regions, out);

    if (!err)
        *doubt = doubt_of(run, o);
    for (int k = 0; k < 2; k++) {
        free(o[k].within);
        vec_deinit(&o[k].visits);
    }
    return err;
}

/* Of what has no sample: how visits to it are had. */
static void note_unseen(struct run *run, const struct pattern *of)
{
    if (!of || !matches_nothing(&run->of))
        return;
    if (of->kind == PATTERN_NAME && str_begins(of->text, "phase "))
        run_note(run, "a phase is what the program marks: call hq_phase_begin (hq.h) there, and record again");
    else
        run_note(run,
                 "to have every visit to a procedure, however short, record with --mark NAME; to see more of them by "
                 "samples, record for longer or with a higher rate (-e CPUTIME@1000/s)");
}

struct hq_error *stretches_of(struct run *run, const struct trace *t, const uint8_t *mark, struct visits *out,
                              char **doubt)
{
    AUTO_FREE uint8_t *within = contexts_within(run->tree, mark);

    *doubt = NULL;
    for (uint32_t i = 0; i < t->profile_count; i++) {
        if (run_interrupted(run))
            return hq_error_new(QUERY_INTERRUPTED, "interrupted");
        HQ_TRY(visits_add(&run->selection, &t->time, t->profiles[i], mark, within, out));
    }
    *doubt = visits_doubt(out, run->tree);
    AUTO_FREE char *unmarked = out->apart.marked ? visits_unmarked(&run->selection, mark) : NULL;

    if (unmarked)
        run_note(run, "%s", unmarked);
    AUTO_FREE char *unseen = *doubt || !out->len ? NULL : visits_unseen(out);

    if (unseen)
        run_note(run, "%s", unseen);
    note_unseen(run, run->query->view.of);
    return NULL;
}

/* ---- values ---- */

static bool is_marked(const struct visit *v)
{
    return v->marked && !v->cut;
}

const uint32_t *stretches_metrics(struct run *run, const struct visits *stretches, size_t *count)
{
    const struct db *db = run->tree->db;
    uint32_t *metrics = ARENA_ARRAY(&run->arena, db->metric_count + 1, uint32_t);
    unsigned wanted = HQDB_METRIC_TRACED;

    for (size_t i = 0; i < stretches->len; i++)
        wanted |= is_marked(&stretches->data[i]) ? HQDB_METRIC_COUNTED : 0;
    *count = 0;
    for (uint32_t m = 0; m < db->metric_count; m++)
        if (db->metrics[m].flags & wanted)
            metrics[(*count)++] = m;
    return metrics;
}

struct measuring {
    const struct visit *data;
    size_t len;
    size_t at;              /* the first that may hold what comes next */
    const size_t *place_of; /* [metric of the database] + 1, 0: not asked for */
    size_t count;
    bool by_samples; /* what was not counted at marks is what samples tell */
    double *values;
    size_t *uncounted; /* [metric asked for] of how many whole ones marks do not tell it */
};

/* A sample belongs to the stretch that it falls in, a span to each by its part in it. */
static void add_record(struct measuring *m, const struct db *db, const struct db_trace_record *r, uint64_t before,
                       uint64_t us)
{
    bool spans = timeline_spans(db, r->metric) && us > before;
    double value = (double)db->metrics[r->metric].period * r->weight;
    size_t place = m->place_of[r->metric];

    while (m->at < m->len && m->data[m->at].to_us <= (spans ? before : us))
        m->at++;
    for (size_t i = m->at; place && i < m->len && m->data[i].from_us <= us; i++) {
        const struct visit *v = &m->data[i];
        uint64_t from = v->from_us > before ? v->from_us : before, to = v->to_us < us ? v->to_us : us;

        if (spans && to > from)
            m->values[i * m->count + place - 1] += value * (double)(to - from) / (double)(us - before);
        if (!spans && us < v->to_us)
            m->values[i * m->count + place - 1] += value;
    }
}

/* Measures counted metrics: their growth between marks is known exactly, and metrics without samples are known nowhere
 * else. A counter that a thread has nothing of may not have run there, so samples tell nothing of it either. */
static void measure_growth(const struct trace *t, uint32_t profile, struct measuring *m)
{
    const struct db *db = t->time.db;
    AUTO(growth_deinit) struct growth growth = growth_of(&t->time, profile);

    for (uint32_t metric = 0; metric < db->metric_count; metric++) {
        unsigned flags = db->metrics[metric].flags;
        size_t place = m->place_of[metric];

        for (size_t i = 0; place && flags & HQDB_METRIC_COUNTED && i < m->len; i++) {
            const struct visit *v = &m->data[i];
            double exact = is_marked(v) ? growth_between(&growth, metric, v->from_us, v->to_us) : NAN;
            bool sampled = m->by_samples && flags & HQDB_METRIC_TRACED &&
                           (!is_marked(v) || growth_is_clock(db, metric));

            if (!isnan(exact) || !sampled)
                m->values[i * m->count + place - 1] = exact;
            m->uncounted[place - 1] += is_marked(v) && isnan(exact);
        }
    }
}

static struct hq_error *add_samples(const struct trace *t, uint32_t profile, struct measuring *m)
{
    int64_t offset = timeline_offset(&t->time, profile);
    struct db_trace_reader *reader;
    struct db_trace_record r;
    uint64_t before = 0, us;

    HQ_TRY(db_trace_open(t->time.db, profile, &reader));
    for (; m->at < m->len && db_trace_next(reader, &r); before = us) {
        us = timeline_shift(offset, r.time_us);
        add_record(m, t->time.db, &r, before, us);
    }
    db_trace_close(reader);
    return NULL;
}

/* Tells what of a metric was not counted at the marks of whole stretches, though it was of others. */
static void note_uncounted(struct run *run, uint32_t metric, bool by_samples, size_t uncounted, size_t of)
{
    const struct db *db = run->tree->db;
    const char *name = db_string(db, db->metrics[metric].name);

    if (!uncounted)
        return;
    if (!growth_is_clock(db, metric))
        run_note(run, "%s: %zu of %zu visits are blank, since nothing of it was counted in their threads", name,
                 uncounted, of);
    else if (uncounted < of)
        run_note(run, "%s: %zu of %zu visits %s, since their marks came faster than CPU time is noted", name, uncounted,
                 of, by_samples ? "have what samples tell" : "are blank");
}

static struct hq_error *measure(struct run *run, const struct trace *t, const struct visits *stretches,
                                const uint32_t *metrics, size_t count, bool by_samples, double *values)
{
    AUTO_FREE size_t *place_of = xcalloc(t->time.db->metric_count + 1, sizeof *place_of);
    AUTO_FREE size_t *uncounted = xcalloc(count + 1, sizeof *uncounted);
    size_t whole = 0;

    for (size_t i = 0; i < count; i++)
        place_of[metrics[i]] = i + 1;
    for (size_t first = 0, end; first < stretches->len; first = end) {
        struct measuring m = {.data = stretches->data + first,
                              .place_of = place_of,
                              .count = count,
                              .by_samples = by_samples,
                              .values = values + first * count,
                              .uncounted = uncounted};

        for (end = first; end < stretches->len && stretches->data[end].profile == m.data->profile;)
            whole += is_marked(&stretches->data[end++]);
        m.len = end - first;
        if (run_interrupted(run))
            return hq_error_new(QUERY_INTERRUPTED, "interrupted");
        if (by_samples)
            HQ_TRY(add_samples(t, m.data->profile, &m));
        measure_growth(t, m.data->profile, &m);
    }
    for (size_t k = 0; k < count; k++)
        note_uncounted(run, metrics[k], by_samples, uncounted[k], whole);
    return NULL;
}

struct hq_error *stretches_measure(struct run *run, const struct trace *t, const struct visits *stretches,
                                   const uint32_t *metrics, size_t count, double *values)
{
    return measure(run, t, stretches, metrics, count, true, values);
}

/* Whether a metric has a value in some stretch. */
static bool is_counted(const double *values, size_t stretches, size_t count, size_t k)
{
    for (size_t i = 0; i < stretches; i++)
        if (!isnan(values[i * count + k]))
            return true;
    return false;
}

struct hq_error *stretches_count(struct run *run, const struct trace *t, const struct visits *stretches,
                                 struct stretch_counts *out)
{
    size_t count, kept = 0;
    const uint32_t *metrics = stretches_metrics(run, stretches, &count);
    AUTO_FREE double *values = xcalloc(stretches->len * count + 1, sizeof *values);

    for (size_t i = 0; i < stretches->len * count; i++)
        values[i] = NAN;
    HQ_TRY(measure(run, t, stretches, metrics, count, false, values));
    out->metrics = ARENA_ARRAY(&run->arena, count + 1, uint32_t);
    out->values = ARENA_ARRAY(&run->arena, stretches->len * count + 1, double);
    for (size_t k = 0; k < count; k++)
        if (is_counted(values, stretches->len, count, k))
            out->metrics[out->count++] = metrics[k];
    for (size_t k = 0; k < count; k++) {
        if (kept == out->count || out->metrics[kept] != metrics[k])
            continue;
        for (size_t i = 0; i < stretches->len; i++)
            out->values[i * out->count + kept] = values[i * count + k];
        kept++;
    }
    return NULL;
}

/* ---- as rows ---- */

enum { START, LENGTH, OWN };

/* The total of one metric; false: there is one more value than is known, which may be most of it. */
static bool add_up(const struct visits *stretches, const double *values, size_t count, double *total)
{
    *total = 0;
    for (size_t i = 0; i < stretches->len; i++) {
        if (isnan(values[i * count]) && !stretches->data[i].cut)
            return false;
        *total += isnan(values[i * count]) ? 0 : values[i * count];
    }
    return true;
}

void metrics_add_measures(struct run *run, const struct visits *stretches, const uint32_t *metrics, size_t count,
                          const double *values)
{
    const struct db *db = run->tree->db;
    struct selection *s = &run->selection;

    for (size_t k = 0; k < count; k++) {
        const struct hqdb_metric *m = &db->metrics[metrics[k]];
        double total;

        vec_push(&s->measures, measure_of_view(db_string(db, m->name), db_string(db, m->description),
                                               (enum dim)m->dimension, m->scale));
        if (add_up(stretches, values + k, count, &total))
            measure_add(&vec_last(&s->measures), llround(total));
    }
    s->here_count = s->measures.len;
}

void metrics_fill_slots(const struct run *run, const uint32_t *metrics, size_t count, const double *values,
                        double *slots)
{
    for (size_t k = 0; k < count; k++)
        slots[2 * k] = values[k] * run->tree->db->metrics[metrics[k]].scale;
}

void stretches_set_measures(struct run *run, const struct visits *v, const uint32_t *metrics, size_t count,
                            const double *values)
{
    struct selection *s = &run->selection;

    vec_clear(&s->measures);
    vec_push(&s->measures, measure_of_view("start", "when it starts", DIM_SECONDS, 1e-6));
    vec_push(&s->measures, measure_of_view("length", "how long it takes", DIM_SECONDS, 1e-6));
    measure_add(&s->measures.data[LENGTH], 0);
    for (size_t i = 0; i < v->len; i++)
        measure_add(&s->measures.data[LENGTH], (int64_t)v->data[i].length_us);
    metrics_add_measures(run, v, metrics, count, values);
}

double *stretch_slots(struct run *run, const struct visit *v, const uint32_t *metrics, size_t count,
                      const double *values)
{
    double *slots = ARENA_ARRAY(&run->arena, 2 * (OWN + count), double);

    slots[2 * START] = (double)v->from_us / 1e6;
    slots[2 * LENGTH] = (double)v->length_us / 1e6;
    metrics_fill_slots(run, metrics, count, values, slots + 2 * OWN);
    return slots_same(slots, OWN + count);
}

struct hq_error *stretches_find(struct run *run, const struct trace *t, struct visits *out, char **doubt)
{
    const struct view *view = &run->query->view;
    struct matches between = {0};
    struct hq_error *err = NULL;

    if (view->between)
        err = pattern_resolve(run->env, run->tree, view->between, KINDS_PATH, &between);
    if (!err && between.problem)
        run_note(run, "%s", between.problem);
    if (!err && between.unknown && !run->unknown)
        run->unknown = arena_strdup(&run->arena, between.unknown);
    if (!err) {
        AUTO_FREE uint8_t *mark = view->between ? matches_mark(&between, run->tree)
                                  : view->of    ? matches_mark(&run->of, run->tree)
                                                : NULL;

        err = view->of ? stretches_of(run, t, mark, out, doubt) : bursts_find(run, t, mark, out, doubt);
    }
    matches_deinit(&between);
    return err;
}
