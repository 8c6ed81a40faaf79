/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `iterations of PATTERN`: the visits of each profile to a procedure or loop (query/choose/visits.h tells what a visit
 * is), with what took most of each and how far its length is from the median of all that are shown. Start, length and
 * deviation are its metrics, and of marked visits what was counted at the marks, so that where, sort by, limit and
 * expect work on them as in other lists. Where samples do not tell the visits apart, every row says so, and what
 * follows from their number is left blank.
 */
#include "query/views/trace.h"
#include "common/hash.h"
#include "query/views/stretches.h"
#include "query/views/views.h"
#include "query/choose/visits.h"
#include <math.h>

enum { START, LENGTH, DEVIATION, MEASURES };

struct children { /* of one visit: child context -> samples */
    struct map samples;
    uint64_t all;
};

/* The row below the matching scope on the way to a context: the outermost one inside that is not marked itself;
 * HQDB_NONE: the scope's own. */
static uint32_t child_on_path(const struct tree *tree, const uint8_t *mark, uint32_t c)
{
    uint32_t child = HQDB_NONE;

    for (uint32_t at = c; at != HQDB_NONE && !mark[at]; at = tree_parent(tree, at))
        if (tree_kind(tree, at) != SCOPE_LINE)
            child = at;
    return child;
}

/* Where the samples of a visit in the slices fell. */
static struct hq_error *count_children(struct run *run, const struct timeline *time, const struct visit *v,
                                       const uint8_t *mark, struct children *out)
{
    int64_t offset = timeline_offset(time, v->profile), from;
    struct slice whole;
    struct slices slices = slices_of(&run->selection, v->profile, &whole);
    struct db_trace_reader *reader;
    struct db_trace_record r;
    size_t slice = 0;
    uint64_t before = v->from_us;
    uint32_t metric = timeline_metric(time->db);

    map_clear(&out->samples);
    out->all = 0;
    HQ_TRY(db_trace_open(time->db, v->profile, &reader));
    if (!__builtin_sub_overflow((int64_t)v->from_us, offset, &from) && from > 0)
        db_trace_seek(reader, (uint64_t)from - 1);
    while (db_trace_next(reader, &r)) {
        int64_t at = (int64_t)timeline_shift(offset, r.time_us);
        bool spans = timeline_spans(time->db, r.metric);

        if (r.metric != metric && metric != HQDB_NONE && !db_is_of_devices(time->db, r.metric))
            continue;
        uint64_t begin = before;

        if (at >= (int64_t)v->to_us + spans)
            break;
        if (at < (int64_t)v->from_us + spans)
            continue;
        before = (uint64_t)at;
        if (spans ? !slices_overlap(&slices, begin, before, &slice) : !slices_hold(&slices, before, &slice))
            continue;
        uint32_t child = child_on_path(run->tree, mark, selection_context(&run->selection, r.frame));
        uint32_t scope = child == HQDB_NONE ? HQDB_NONE : tree_scope_of(run->tree, child);
        *map_insert(&out->samples, scope, 0, NULL) += r.weight;
        out->all += r.weight;
    }
    db_trace_close(reader);
    return NULL;
}

static const char *largest_child(const struct run *run, const struct children *c, struct arena *arena)
{
    uint64_t scope, samples, most = 0, best = HQDB_NONE;

    for (size_t pos = 0; map_next(&c->samples, &pos, &scope, &samples);)
        if (samples > most || (samples == most && scope < best)) {
            most = samples;
            best = scope;
        }
    const char *name = best == HQDB_NONE ? "itself" : tree_scope_name(run->tree, (uint32_t)best, arena);
    return arena_printf(arena, "%s %.0f%%", name, c->all ? 100.0 * (double)most / (double)c->all : 0);
}

static int compare_lengths(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static size_t count_cut(const struct visits *v)
{
    size_t n = 0;

    for (size_t i = 0; i < v->len; i++)
        n += v->data[i].cut;
    return n;
}

/* Returns the median length of the visits that the slices do not cut, if there are any; else of all. */
static double median_length(const struct visits *v)
{
    AUTO_FREE double *lengths = xcalloc(v->len + 1, sizeof *lengths);
    bool all_cut = count_cut(v) == v->len;
    size_t n = 0;

    for (size_t i = 0; i < v->len; i++)
        if (all_cut || !v->data[i].cut)
            lengths[n++] = (double)v->data[i].length_us / 1e6;
    qsort(lengths, n, sizeof *lengths, compare_lengths);
    return n ? (lengths[n / 2] + lengths[(n - 1) / 2]) / 2 : 0;
}

/* The metrics of this view, in the place of those of the database. */
static void set_measures(struct run *run, const struct visits *visits, double median, const struct stretch_counts *c)
{
    static const struct {
        const char *name, *description;
    } names[MEASURES] = {
        {"start", "when it starts"},
        {"length", "how long it takes"},
        {"deviation", "from the median of the lengths"},
    };
    struct selection *s = &run->selection;

    vec_clear(&s->measures);
    for (size_t i = 0; i < MEASURES; i++)
        vec_push(&s->measures, measure_of_view(names[i].name, names[i].description, DIM_SECONDS, 1e-6));
    s->measures.data[DEVIATION].marks_sign = true;
    /* So `deviation > 20%` is a share of the median. */
    measure_add(&s->measures.data[DEVIATION], isnan(median) ? 0 : llround(median * 1e6));
    measure_add(&s->measures.data[LENGTH], 0);
    for (size_t i = 0; i < visits->len; i++)
        measure_add(&s->measures.data[LENGTH], (int64_t)visits->data[i].length_us);
    metrics_add_measures(run, visits, c->metrics, c->count, c->values);
}

struct overall {   /* of all visits */
    double median; /* NaN: there is none to deviate from */
    struct stretch_counts counts;
};

static struct hq_error *add_node(struct run *run, const struct trace *t, const struct visits *visits, size_t i,
                                 const struct overall *overall, const uint8_t *mark, struct children *children)
{
    const struct visit *v = &visits->data[i];
    const struct stretch_counts *c = &overall->counts;
    double *slots = ARENA_ARRAY(&run->arena, 2 * (MEASURES + c->count), double), length = (double)v->length_us / 1e6;
    struct node *out = &run->prepared.data[i];

    HQ_TRY(count_children(run, &t->time, v, mark, children));
    slots[2 * START] = (double)v->from_us / 1e6;
    slots[2 * LENGTH] = length;
    slots[2 * DEVIATION] = v->cut ? NAN : length - overall->median;
    metrics_fill_slots(run, c->metrics, c->count, c->values + i * c->count, slots + 2 * MEASURES);
    *out = node_of_visit(run, t, v, "visit", slots_same(slots, MEASURES + c->count));
    out->text = largest_child(run, children, &run->arena);
    return NULL;
}

static void note_visits(struct run *run, const struct visits *visits, double median)
{
    size_t n = visits->len, cut = count_cut(visits);
    char text[UNITS_TEXT];

    units_format(text, median, DIM_SECONDS);
    if (run->doubt)
        run_note(run, "%zu row%s: %s", n, n == 1 ? "" : "s", run->doubt);
    else if (!cut)
        run_note(run, "%zu visit%s, median length %s", n, n == 1 ? "" : "s", text);
    else if (cut == n)
        run_note(run, "%zu visit%s, which the slice cuts%s, median length %s", n, n == 1 ? "" : "s",
                 n == 1 ? "" : " all", text);
    else
        run_note(run, "%zu visits, of which the slice cuts %zu; the median length of the others is %s", n, cut, text);
    if (!run->doubt && !visits->apart.exact && visits->apart.short_gaps)
        run_note(
            run,
            "%zu of %zu gaps between visits hold fewer than %d samples: what stands there as two visits may be one "
            "that a stray sample cuts, and short ones without a sample between them are one row",
            visits->apart.short_gaps, visits->apart.gaps, APART_GAP);
}

static struct hq_error *add_nodes(struct run *run, const struct trace *t, const struct visits *visits,
                                  const struct overall *overall, const uint8_t *mark)
{
    struct children children = {0};
    struct hq_error *err = NULL;

    run->prepared.data = ARENA_ARRAY(&run->arena, visits->len, struct node);
    for (size_t i = 0; i < visits->len && !err; i++)
        err = run_interrupted(run) ? hq_error_new(QUERY_INTERRUPTED, "interrupted")
                                   : add_node(run, t, visits, i, overall, mark, &children);
    run->prepared.len = visits->len;
    map_deinit(&children.samples);
    if (!err && visits->len)
        note_visits(run, visits, overall->median);
    return err;
}

static struct hq_error *iterations_prepare(struct run *run)
{
    struct trace t;
    struct visits visits = {0};
    struct overall overall = {0};
    char *doubt = NULL;
    AUTO_FREE uint8_t *mark = matches_mark(&run->of, run->tree);
    bool devices = trace_is_of_devices(run, mark);
    struct hq_error *err = trace_init(&t, run, 1, 0, devices);

    if (!err)
        err = stretches_of(run, &t, mark, &visits, &doubt);
    if (!err) {
        overall.median = doubt ? NAN : median_length(&visits);
        run->doubt = doubt ? arena_strdup(&run->table->arena, doubt) : NULL;
        err = stretches_count(run, &t, &visits, &overall.counts);
    }
    if (!err)
        err = add_nodes(run, &t, &visits, &overall, mark);
    if (!err && devices)
        trace_note_clock(&t);
    if (!err)
        set_measures(run, &visits, overall.median, &overall.counts);
    free(doubt);
    vec_deinit(&visits);
    trace_deinit(&t);
    return err;
}

const struct view_row view_iterations = {
    .shape = SHAPE_LIST,
    .of_kinds = KINDS_PATH,
    .row_kinds = KIND_BIT(SCOPE_THREAD),
    .of_profiles = true,
    .of_traces = true,
    .cuts_visits = true,
    .in_order = true,
    .beside = "largest child",
    .prepare = iterations_prepare,
    .roots = roots_prepared,
};
