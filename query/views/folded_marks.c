/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routines of a fold that were marked themselves (query/views/folded.h). Samples tell where a routine begins to so many
 * parts of the visit as there are samples around; marks tell when each of its visits began and ended.
 */
#include "common/mem.h"
#include "query/choose/growth.h"
#include "query/views/folded.h"
#include <math.h>
#include <string.h>

/* The runs of one routine in one run of the level above: the first visit in each folded one is of the first, and so
 * on. */
struct marked_runs {
    uint32_t *run;
    size_t count;
    uint8_t *matching; /* by context */
    double *from, *to; /* [count] sums, in seconds since the folded visit began */
    double length;     /* of these visits */
    size_t visits;
};
struct all_marked {
    struct folded *f;
    struct marked_runs *data;
    size_t len, cap;
};

/* ---- which contexts a run is of ---- */

static uint32_t routine_above(const struct tree *t, uint32_t c)
{
    do
        c = tree_parent(t, c);
    while (c != HQDB_NONE && !folded_is_routine(t, c));
    return c;
}

static bool is_outermost(const struct folded *f, uint32_t c)
{
    const struct tree *t = f->run->tree;

    if (f->mark && !f->mark[c])
        return false;
    for (uint32_t p = tree_parent(t, c); p != HQDB_NONE; p = tree_parent(t, p))
        if (f->mark ? f->mark[p] : folded_is_routine(t, p))
            return false;
    return true;
}

/* Whether the routines down to a context, from what was folded on, are those of a run. */
static bool is_of_run(const struct folded *f, uint32_t r, uint32_t c)
{
    const struct tree *t = f->run->tree;

    for (; c != HQDB_NONE && tree_scope_of(t, c) == f->runs.data[r].routine; c = routine_above(t, c)) {
        if (f->runs.data[r].parent == UINT32_MAX)
            return is_outermost(f, c);
        r = f->runs.data[r].parent;
    }
    return false;
}

/* By context; NULL: no visit to it was marked. The caller frees. */
static uint8_t *contexts_of_run(const struct folded *f, uint32_t r)
{
    const struct tree *t = f->run->tree;
    struct db_list all = tree_instances(t, f->runs.data[r].routine);
    uint8_t *matching = xcalloc((size_t)t->context_count + 1, 1);

    for (uint32_t i = 0; i < all.len; i++)
        matching[all.data[i]] = is_of_run(f, r, all.data[i]);
    if (visits_are_marked(&f->run->selection, matching))
        return matching;
    free(matching);
    return NULL;
}

static void add_run(struct all_marked *all, uint32_t r)
{
    const struct routine_runs *runs = &all->f->runs;
    struct marked_runs m = {.matching = contexts_of_run(all->f, r)};

    if (!m.matching)
        return;
    m.run = xcalloc(runs->len, sizeof *m.run);
    for (uint32_t i = r; i < runs->len; i++)
        if (runs->data[i].routine == runs->data[r].routine && runs->data[i].parent == runs->data[r].parent)
            m.run[m.count++] = i;
    m.from = xcalloc(m.count, sizeof *m.from);
    m.to = xcalloc(m.count, sizeof *m.to);
    vec_push(all, m);
}

static bool is_first(const struct routine_runs *runs, uint32_t r)
{
    for (uint32_t i = 0; i < r; i++)
        if (runs->data[i].routine == runs->data[r].routine && runs->data[i].parent == runs->data[r].parent)
            return false;
    return true;
}

/* ---- when they ran ---- */

/* Seconds from the begin of a folded visit on, of what it is folded by; NaN: not known. */
static double seconds_in(const struct folded *f, const struct growth *growth, uint64_t from_us, uint64_t us)
{
    uint32_t clock = timeline_metric(f->run->tree->db);

    return f->run->query->view.on_running
               ? growth_between(growth, clock, from_us, us) * f->run->tree->db->metrics[clock].scale
               : (double)(us - from_us) / 1e6;
}

/* Adds up one folded visit, in which `inner` are the visits to the routine, if there are as many as runs. */
static void add_visit(const struct folded *f, const struct growth *growth, size_t v, const struct visit *inner,
                      size_t count, struct marked_runs *m)
{
    bool known = count == m->count;
    uint64_t began = f->visits.data[v].from_us;

    for (size_t i = 0; i < count && known; i++)
        known = inner[i].marked && !inner[i].cut && !isnan(seconds_in(f, growth, began, inner[i].from_us)) &&
                !isnan(seconds_in(f, growth, began, inner[i].to_us));
    for (size_t i = 0; i < count && known; i++) {
        m->from[i] += seconds_in(f, growth, began, inner[i].from_us);
        m->to[i] += seconds_in(f, growth, began, inner[i].to_us);
    }
    m->length += known ? f->length[v] : 0;
    m->visits += known;
}

/* The folded visits first .. end - 1 are of one profile. */
static struct hq_error *add_profile(const struct folded *f, size_t first, size_t end, const struct growth *growth,
                                    struct marked_runs *m)
{
    struct visits inner = {.apart = {.looked = true, .marked = true}};
    struct hq_error *err = visits_add(&f->run->selection, &f->trace.time, f->visits.data[first].profile, m->matching,
                                      m->matching, &inner);
    size_t at = 0, last;

    for (size_t v = first; v < end && !err; v++, at = last) {
        while (at < inner.len && inner.data[at].from_us < f->visits.data[v].from_us)
            at++;
        for (last = at; last < inner.len && inner.data[last].to_us <= f->visits.data[v].to_us;)
            last++;
        add_visit(f, growth, v, inner.data + at, last - at, m);
    }
    vec_deinit(&inner);
    return err;
}

static struct hq_error *add_profiles(struct all_marked *all)
{
    const struct folded *f = all->f;
    struct hq_error *err = NULL;

    for (size_t first = 0, end; first < f->visits.len && !err; first = end) {
        AUTO(growth_deinit) struct growth growth = {0};

        for (end = first; end < f->visits.len && f->visits.data[end].profile == f->visits.data[first].profile;)
            end++;
        if (run_interrupted(f->run))
            return hq_error_new(QUERY_INTERRUPTED, "interrupted");
        if (f->run->query->view.on_running)
            growth = growth_of(&f->trace.time, f->visits.data[first].profile);
        for (size_t i = 0; i < all->len && !err; i++)
            err = add_profile(f, first, end, &growth, &all->data[i]);
    }
    return err;
}

/* ---- what that says of the runs ---- */

static void move_border(double *border, bool follows, double to)
{
    if (follows)
        *border = to;
}

/* Runs within it, and those beside it that samples alone know, follow. */
static void place_run(struct routine_runs *runs, uint32_t r, double from, double to)
{
    struct routine_run was = runs->data[r], *run = &runs->data[r];

    run->from = from;
    run->to = to;
    for (uint32_t i = 0; i < runs->len; i++) {
        struct routine_run *other = &runs->data[i];

        if (i == r || other->marked)
            continue;
        if (other->parent == r) {
            place_run(runs, i, other->from == was.from ? from : fmin(fmax(other->from, from), to),
                      other->to == was.to ? to : fmin(fmax(other->to, from), to));
        } else if (other->parent == was.parent && was.marked) {
            move_border(&other->to, i < r && (other->to == was.from || other->to > from), fmax(from, other->from));
            move_border(&other->from, i > r && (other->from == was.to || other->from < to), fmin(to, other->to));
        }
    }
}

/* In nine of ten visits at least the routine was visited as often as it has runs. */
static void take(struct folded *f, const struct marked_runs *m)
{
    if (!m->visits || m->visits * 10 < f->visits.len * 9)
        return;
    for (size_t i = 0; i < m->count; i++)
        f->runs.data[m->run[i]].marked = true;
    for (size_t i = 0; i < m->count; i++)
        place_run(&f->runs, m->run[i], m->from[i] / m->length, m->to[i] / m->length);
}

struct hq_error *folded_take_marks(struct folded *f)
{
    struct all_marked all = {.f = f};
    struct hq_error *err;

    for (uint32_t r = 0; r < f->runs.len; r++)
        if (f->runs.data[r].parent != UINT32_MAX && is_first(&f->runs, r))
            add_run(&all, r);
    err = all.len ? add_profiles(&all) : NULL;
    vec_foreach(m, &all) {
        if (!err)
            take(f, m);
        free(m->run);
        free(m->matching);
        free(m->from);
        free(m->to);
    }
    vec_deinit(&all);
    return err;
}
