/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/views/folded.h"
#include "common/map.h"
#include "common/mem.h"
#include "common/str.h"
#include "query/folding/alignment.h"
#include "query/views/clustering.h"
#include "query/grammar/parse.h"
#include "query/views/views.h"
#include <string.h>

/* ---- instances ---- */

static struct hq_error *find_cluster(struct folded *f, struct visits *all, char **doubt)
{
    const struct view *view = &f->run->query->view;
    struct clustering c = {.run = f->run};
    struct hq_error *err = trace_init(&c.trace, f->run, 1, 0, false);

    if (!err)
        err = clustering_make(&c);
    if (!err && c.bursts.len && view->cluster > c.count) {
        f->run->doubt = arena_printf(&f->run->table->arena,
                                     "there is no cluster %u: `clusters of phases` finds %u with eps %.2g and at least "
                                     "%u points",
                                     view->cluster, c.count, c.eps, c.least);
        run_note(f->run, "%s", f->run->doubt);
    }
    for (size_t i = 0; i < c.bursts.len && !err; i++)
        if (c.cluster[i] == view->cluster - 1)
            vec_push(all, c.bursts.data[i]);
    *doubt = !err && all->len && c.doubt ? xstrdup(c.doubt) : NULL;
    clustering_deinit(&c);
    return err;
}

static bool is_whole(const struct visit *v)
{
    return !v->cut && v->length_us;
}

/* Those that are whole and alike. */
static void choose(struct folded *f, const struct visits *all)
{
    enum instances instances = f->run->query->view.instances;
    AUTO_FREE double *lengths = xcalloc(all->len + 1, sizeof *lengths);
    AUTO_FREE uint8_t *keep = xcalloc(all->len + 1, 1);
    size_t whole = 0, at = 0;

    for (size_t i = 0; i < all->len; i++)
        if (is_whole(&all->data[i]))
            lengths[whole++] = (double)all->data[i].length_us / 1e6;
    if (instances == INSTANCES_ALL)
        memset(keep, 1, whole);
    else
        fold_alike(lengths, whole, instances == INSTANCES_MAD, keep);
    for (size_t i = 0; i < all->len; i++)
        if (is_whole(&all->data[i]) && keep[at++])
            vec_push(&f->visits, all->data[i]);
    f->found = all->len;
    f->length = ARENA_ARRAY(&f->run->arena, f->visits.len + 1, double);
    for (size_t i = 0; i < f->visits.len; i++) {
        f->length[i] = (double)f->visits.data[i].length_us / 1e6;
        f->mean += f->length[i] / (double)f->visits.len;
    }
    if (!all->len)
        return;
    run_note(f->run, "%zu of %zu %s%s", f->visits.len, all->len, f->run->query->view.cluster ? "stretches" : "visits",
             instances == INSTANCES_ALL   ? ", all that are whole"
             : instances == INSTANCES_MAD ? ", whole and within two median absolute deviations of the median length"
                                          : ", whole and within two standard deviations of the mean length");
}

static const char *what_is_folded(struct folded *f)
{
    const struct view *v = &f->run->query->view;

    return v->cluster ? arena_printf(&f->run->arena, "cluster %u", v->cluster) : print_pattern(&f->run->arena, v->of);
}

struct hq_error *folded_choose(struct folded *f)
{
    const struct view *view = &f->run->query->view;
    struct visits all = {0};
    char *doubt = NULL;
    struct hq_error *err = trace_init(&f->trace, f->run, 1, 0, false);

    f->of = what_is_folded(f);
    f->mark = view->of ? matches_mark(&f->run->of, f->run->tree) : NULL;
    f->metrics = stretches_metrics(f->run, &f->metric_count);
    f->events = xcalloc(f->metric_count + 1, sizeof *f->events);
    if (!err)
        err = view->cluster ? find_cluster(f, &all, &doubt) : stretches_of(f->run, &f->trace, f->mark, &all, &doubt);
    if (!err && doubt)
        err = place_error(view->cluster ? &view->cluster_place : &view->of->place, NULL,
                          view->cluster ? "its stretches cannot be folded: %s"
                                        : "its visits cannot be folded: %s; or mark them in the program by "
                                          "hq_phase_begin (hq.h)",
                          doubt);
    if (!err)
        choose(f, &all);
    if (!err && !f->visits.len && !f->run->doubt && (!view->of || !matches_nothing(&f->run->of)))
        run_note(f->run,
                 "there is no whole visit to %s to fold: record a run in which it is entered and left, with a trace, "
                 "or mark it in the program by hq_phase_begin (hq.h)",
                 f->of);
    free(doubt);
    vec_deinit(&all);
    return err;
}

/* ---- samples ---- */

static void add_sample(struct folded *f, const struct db_trace_record *r, uint64_t us, size_t visit,
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
static struct hq_error *gather(struct folded *f, size_t first, size_t end, const size_t *place_of)
{
    uint32_t profile = f->visits.data[first].profile, clock = timeline_metric(f->run->tree->db);
    int64_t offset = timeline_offset(&f->trace.time, profile);
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

static struct hq_error *gather_all(struct folded *f)
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

struct hq_error *folded_fit(struct folded *f, size_t points, double span)
{
    f->points = points;
    f->span = span;
    HQ_TRY(gather_all(f));
    find_routines(f);
    f->curves = ARENA_ARRAY(&f->run->arena, f->metric_count + 1, struct fold_point *);
    for (size_t k = 0; k < f->metric_count; k++) {
        f->curves[k] = ARENA_ARRAY(&f->run->arena, points, struct fold_point);
        if (run_interrupted(f->run))
            return hq_error_new(QUERY_INTERRUPTED, "interrupted");
        if (!fold_curve(f->events[k].data, f->events[k].len, (struct fold_instances){f->length, f->visits.len},
                        f->curves[k], points, span / f->mean))
            f->curves[k] = NULL;
    }
    return NULL;
}

void folded_deinit(struct folded *f)
{
    for (size_t k = 0; k < f->metric_count; k++)
        vec_deinit(&f->events[k]);
    free(f->events);
    free(f->mark);
    vec_deinit(&f->visits);
    vec_deinit(&f->places);
    vec_deinit(&f->runs);
    trace_deinit(&f->trace);
}
