/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routines of a fold that were marked themselves (query/views/folded.h). Samples tell where a routine begins to so many
 * parts of the visit as there are samples around, and nothing of one that is shorter than a run; marks tell when each
 * of its visits began and ended.
 */
#include "common/map.h"
#include "common/mem.h"
#include "query/choose/growth.h"
#include "query/views/folded.h"
#include <math.h>
#include <string.h>

/* More visits to a routine in one that is folded are no runs of their own. */
enum { MOST = 8 };
#define NOWHERE (UINT32_MAX - 1) /* the parent of a run that is none */

struct span {
    uint64_t from_us, to_us;
};
/* The folded visits in which there were as many visits to a routine: sums of when each of these began and ended, in
 * seconds since the folded one began. */
struct tally {
    double from[MOST], to[MOST];
    double length; /* of the folded ones */
    size_t visits;
};
/* A routine that is marked, called in a run. */
struct marked {
    uint32_t routine, parent;
    uint32_t run[MOST];
    size_t runs;                 /* that samples show of it there */
    struct tally by_count[MOST]; /* of 1, 2, ... visits to it */
    /* In the folded visit at hand: */
    uint64_t depth, from_us; /* of nested visits the outermost counts */
    struct span inner[MOST];
    size_t inner_count; /* more than MOST: too many */
};
struct all_marked {
    struct folded *f;
    struct map by_context; /* to a place in `data`, + 1; 0: it is none of them */
    struct marked *data;
    size_t len, cap;
};

/* ---- which routines ---- */

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

/* The first run that the routine of a context was called in; UINT32_MAX: none. */
static uint32_t run_above(const struct folded *f, uint32_t c)
{
    uint32_t above = routine_above(f->run->tree, c);

    for (uint32_t r = 0; r < f->runs.len && above != HQDB_NONE; r++)
        if (is_of_run(f, r, above))
            return r;
    return UINT32_MAX;
}

static size_t find_marked(struct all_marked *all, uint32_t routine, uint32_t parent)
{
    const struct routine_runs *runs = &all->f->runs;
    struct marked m = {.routine = routine, .parent = parent};

    for (size_t i = 0; i < all->len; i++)
        if (all->data[i].routine == routine && all->data[i].parent == parent)
            return i;
    for (uint32_t r = parent; r < runs->len; r++)
        if (runs->data[r].routine == routine && runs->data[r].parent == parent && m.runs++ < MOST)
            m.run[m.runs - 1] = r;
    vec_push(all, m);
    return all->len - 1;
}

/* NULL: what a context is of was not called in a run. */
static struct marked *marked_at(struct all_marked *all, uint32_t context)
{
    bool is_new;
    uint64_t *place = map_insert(&all->by_context, context, 0, &is_new);

    if (is_new && folded_is_routine(all->f->run->tree, context)) {
        uint32_t parent = run_above(all->f, context);

        if (parent != UINT32_MAX)
            *place = find_marked(all, tree_scope_of(all->f->run->tree, context), parent) + 1;
    }
    return *place ? &all->data[*place - 1] : NULL;
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

/* A folded visit is over: adds up the visits to a routine in it. */
static void add_visit(const struct folded *f, const struct growth *growth, size_t v, struct marked *m)
{
    size_t count = m->inner_count;
    uint64_t began = f->visits.data[v].from_us;
    double from[MOST], to[MOST];

    m->inner_count = 0;
    if (!count || count > MOST)
        return;
    for (size_t i = 0; i < count; i++) {
        from[i] = seconds_in(f, growth, began, m->inner[i].from_us);
        to[i] = seconds_in(f, growth, began, m->inner[i].to_us);
        if (isnan(from[i]) || isnan(to[i]))
            return;
    }
    struct tally *t = &m->by_count[count - 1];

    for (size_t i = 0; i < count; i++) {
        t->from[i] += from[i];
        t->to[i] += to[i];
    }
    t->length += f->length[v];
    t->visits++;
}

static void take_mark(struct marked *m, const struct db_mark *mark, uint64_t us, const struct visit *within)
{
    if (!mark->leaves && !m->depth++)
        m->from_us = us;
    if (mark->leaves && m->depth && !--m->depth && m->from_us >= within->from_us && us <= within->to_us &&
        m->inner_count++ < MOST)
        m->inner[m->inner_count - 1] = (struct span){m->from_us, us};
}

/* The folded visits first .. end - 1 are of one profile. */
static void add_profile(struct all_marked *all, size_t first, size_t end, const struct growth *growth)
{
    const struct folded *f = all->f;
    const struct selection *s = &f->run->selection;
    uint32_t profile = f->visits.data[first].profile;
    int64_t offset = timeline_offset(&f->trace.time, profile);
    struct db_marks marks = db_marks_of(s->tree.db, profile);
    struct db_mark mark;
    size_t v = first;

    vec_foreach(m, all)
        m->depth = 0;
    while (v < end && db_mark_next(&marks, &mark)) {
        uint64_t us = timeline_shift(offset, mark.time_us);
        struct marked *m;

        for (; v < end && us > f->visits.data[v].to_us; v++)
            vec_foreach(over, all)
                add_visit(f, growth, v, over);
        m = v < end ? marked_at(all, visits_marked_context(s, mark.frame)) : NULL;
        if (m)
            take_mark(m, &mark, us, &f->visits.data[v]);
    }
    for (; v < end; v++)
        vec_foreach(over, all)
            add_visit(f, growth, v, over);
}

static struct hq_error *add_profiles(struct all_marked *all)
{
    const struct folded *f = all->f;

    for (size_t first = 0, end; first < f->visits.len; first = end) {
        AUTO(growth_deinit) struct growth growth = {0};

        for (end = first; end < f->visits.len && f->visits.data[end].profile == f->visits.data[first].profile;)
            end++;
        if (run_interrupted(f->run))
            return hq_error_new(QUERY_INTERRUPTED, "interrupted");
        if (f->run->query->view.on_running)
            growth = growth_of(&f->trace.time, f->visits.data[first].profile);
        add_profile(all, first, end, &growth);
    }
    return NULL;
}

/* ---- what that says of the runs ---- */

/* How often the routine was visited in nine of ten folded visits at least; 0: it differs. */
static size_t usual_count(const struct folded *f, const struct marked *m)
{
    for (size_t i = 0; i < MOST; i++)
        if (m->by_count[i].visits && m->by_count[i].visits * 10 >= f->visits.len * 9)
            return i + 1;
    return 0;
}

/* Runs within it, and those beside it that samples alone know, follow. */
static void place_run(struct routine_runs *runs, uint32_t r, double from, double to)
{
    struct routine_run was = runs->data[r];

    runs->data[r].from = from;
    runs->data[r].to = to;
    for (uint32_t i = 0; i < runs->len; i++) {
        struct routine_run other = runs->data[i];

        if (i == r || other.marked)
            continue;
        if (other.parent == r)
            place_run(runs, i, other.from == was.from ? from : fmin(fmax(other.from, from), to),
                      other.to == was.to ? to : fmin(fmax(other.to, from), to));
        else if (was.marked && other.parent == was.parent && other.from < from &&
                 (other.to == was.from || (other.to > from && other.to <= to)))
            place_run(runs, i, other.from, from);
        else if (was.marked && other.parent == was.parent && other.from >= from && other.to > to &&
                 (other.from == was.to || other.from < to))
            place_run(runs, i, to, other.to);
    }
}

static void add_runs(struct folded *f, const struct marked *m, const struct tally *t, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double from = t->from[i] / t->length, to = t->to[i] / t->length;

        vec_push(&f->runs, (struct routine_run){.routine = m->routine,
                                                .level = f->runs.data[m->parent].level + 1,
                                                .parent = m->parent,
                                                .from = from,
                                                .to = to,
                                                .leaf = true,
                                                .marked = true,
                                                .sure = NAN});
        place_run(&f->runs, (uint32_t)f->runs.len - 1, from, to);
    }
}

/* Samples may show more or fewer runs of it than there were visits: then these are the runs. What is within them is
 * that of a single one, if it is marked, too, and is not known otherwise. */
static void replace_runs(struct all_marked *all, const struct marked *m, const struct tally *t, size_t count)
{
    uint32_t first = (uint32_t)all->f->runs.len;

    for (size_t i = 0; i < m->runs && i < MOST; i++)
        all->f->runs.data[m->run[i]].parent = NOWHERE;
    add_runs(all->f, m, t, count);
    vec_foreach(within, all)
        for (size_t i = 0; i < m->runs && i < MOST; i++)
            if (within->parent == m->run[i]) {
                within->parent = count == 1 ? first : NOWHERE;
                within->runs = 0;
            }
}

static void take(struct all_marked *all, const struct marked *m)
{
    struct folded *f = all->f;
    size_t count = usual_count(f, m);
    const struct tally *t = &m->by_count[count ? count - 1 : 0];

    if (!count || m->parent == NOWHERE)
        return;
    for (size_t i = 0; i < m->runs && i < MOST; i++)
        f->runs.data[m->run[i]].marked = true;
    if (m->runs != count)
        replace_runs(all, m, t, count);
    for (size_t i = 0; i < count && m->runs == count; i++)
        place_run(&f->runs, m->run[i], t->from[i] / t->length, t->to[i] / t->length);
}

/* Appends the runs within `parent` to the list, in the order of time, each with those in it. */
static void add_in_order(const struct routine_runs *runs, uint32_t parent, uint32_t new_parent,
                         struct routine_runs *out)
{
    AUTO_FREE uint32_t *inner = xcalloc(runs->len + 1, sizeof *inner);
    size_t n = 0;

    for (uint32_t i = 0; i < runs->len; i++) {
        size_t at = n;

        if (runs->data[i].parent != parent)
            continue;
        for (; at && runs->data[inner[at - 1]].from > runs->data[i].from; at--)
            inner[at] = inner[at - 1];
        inner[at] = i;
        n++;
    }
    for (size_t i = 0; i < n; i++) {
        struct routine_run run = runs->data[inner[i]];

        run.parent = new_parent;
        vec_push(out, run);
        add_in_order(runs, inner[i], (uint32_t)out->len - 1, out);
    }
}

static void put_in_order(struct routine_runs *runs)
{
    struct routine_runs ordered = {0};

    add_in_order(runs, UINT32_MAX, UINT32_MAX, &ordered);
    vec_deinit(runs);
    *runs = ordered;
}

struct hq_error *folded_take_marks(struct folded *f)
{
    struct all_marked all = {.f = f};
    struct hq_error *err = add_profiles(&all);

    for (size_t i = 0; i < all.len && !err; i++)
        take(&all, &all.data[i]);
    put_in_order(&f->runs);
    map_deinit(&all.by_context);
    vec_deinit(&all);
    return err;
}
