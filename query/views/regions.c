/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `regions`: parallel regions, one row each. Entries and elapsed time are exact: counted where a region was opened.
 * Work, waiting and what the runtime does are sampled times of the threads in it, by the innermost row of kind wait or
 * runtime. From them follow, with P threads, of which the busiest works for `most`:
 *
 *     balance      work / (P * most)        mean by maximum
 *     efficiency   work / (P * elapsed)     blank if not all of the time was sampled by a clock
 *     imbalance    P * most - work          thread time that is lost to the waiting for the busiest
 *
 * Threads wait for those of their own process: P * most and P * elapsed are of each process, and then added up. P is
 * the team by the runtime's count: the largest, and for P * elapsed the mean of all entries. Where that is not known,
 * not all threads are asked for, or threads of regions inside are seen as well, P is the threads that were sampled; of
 * several threads of a process that open the region, each has its share of them.
 */
#include "common/hash.h"
#include "common/vec.h"
#include "query/choose/chosen.h"
#include "query/shape/rows.h"
#include "query/views/regions.h"
#include "query/views/views.h"
#include "common/units.h"
#include <math.h>
#include <string.h>

enum { ELAPSED, ENTRIES, TEAM, WORK, WAITING, RUNTIME, BALANCE, EFFICIENCY, IMBALANCE, MEASURES };

static const struct {
    const char *name, *description;
    enum dim dim;
    double scale;
    bool spare;
} measures[MEASURES] = {
    [ELAPSED] = {"elapsed", "time from before a region is opened to after it was left, exact", DIM_SECONDS, 1e-9,
                 false},
    [ENTRIES] = {"entries", "times that the region was opened, exact", DIM_EVENTS, 1, true},
    [TEAM] = {"team", "threads of its largest team, and more that were sampled in it at a time", DIM_EVENTS, 1, true},
    [WORK] = {"work", "the program's own time in all threads", DIM_SECONDS, 1e-9, false},
    [WAITING] = {"waiting", "time in rows of kind wait", DIM_SECONDS, 1e-9, false},
    [RUNTIME] = {"overhead", "time in rows of kind runtime", DIM_SECONDS, 1e-9, true},
    [BALANCE] = {"balance", "work of the mean thread by that of the busiest", DIM_NONE, 1e-9, false},
    [EFFICIENCY] = {"efficiency", "work by threads times elapsed time, of each process", DIM_NONE, 1e-9, true},
    [IMBALANCE] = {"imbalance", "thread time lost to the busiest thread", DIM_SECONDS, 1e-9, false},
};

/* The measure of time that was sampled, with traces where a slice of them is asked for; SIZE_MAX if there is none. */
static size_t clock_measure(const struct run *run)
{
    for (size_t i = 0; i < run->selection.measures.len; i++) {
        const struct measure *m = &run->selection.measures.data[i];

        if (m->dim == DIM_SECONDS && m->side == SIDE_HERE && m->flags & HQDB_METRIC_SAMPLED &&
            !selection_knows_nothing_of(&run->selection, i))
            return i;
    }
    return SIZE_MAX;
}

/* Returns the share of its region that a context below it belongs to. A region inside has threads of its own, which
 * belong to the outer one too. */
static enum share share_of(const struct tree *t, uint32_t c, uint32_t region)
{
    for (; c != region && c != HQDB_NONE; c = tree_parent(t, c)) {
        enum scope_kind kind = tree_kind(t, c);

        if (kind == SCOPE_WAIT || kind == SCOPE_RUNTIME)
            return kind == SCOPE_WAIT ? SHARE_WAITING : SHARE_RUNTIME;
        if (scope_is_called(kind) || kind == SCOPE_INLINE)
            return SHARE_WORK;
    }
    return SHARE_WORK;
}

static void add_context(const struct run *run, const struct chosen *chosen, uint32_t region, struct sums *s)
{
    const struct db *db = run->tree->db;
    struct db_range r = tree_range(run->tree, region);
    struct chosen_values v = chosen_values(chosen, r);
    struct db_value x;

    for (uint32_t c = region + 1; c < tree_end(run->tree, region) && !s->nested; c++)
        s->nested = tree_has_team(run->tree, tree_scope_of(run->tree, c));
    while (chosen_next(&v, &x)) {
        uint32_t context = db_frame_context(db, x.frame);
        enum share share = share_of(run->tree, context, region);

        sum_add(&s->share[share], x.sum);
        if (share == SHARE_RUNTIME && tree_is_own_work(run->tree, context))
            sum_add(&s->own, x.sum);
        s->samples += x.count;
        s->seen[x.profile] = SEEN;
        if (share == SHARE_WORK)
            sum_add(&s->work[x.profile], x.sum);
    }
    struct db_values all = db_frame_values(db, r, chosen->metric);

    while (run->selection.profiles && db_value_next(&all, &x))
        if (x.profile < db->profile_count && !selection_has_profile(&run->selection, x.profile))
            s->seen[x.profile] = SEEN_UNASKED;
}

/* Efficiency is what threads did in the time that regions were open: both have to be of the same slices. */
static bool has_efficiency(const struct run *run)
{
    return !run->selection.sliced || run->query->samples.during->kind == DURING_SLICE;
}

static void derive(double *values, const struct sums *s, double scale, struct team_sums t)
{
    int64_t work = s->share[SHARE_WORK];

    values[TEAM] = (double)t.threads;
    values[WORK] = scaled_value(work, scale);
    values[WAITING] = scaled_value(s->share[SHARE_WAITING], scale);
    values[RUNTIME] = scaled_value(s->share[SHARE_RUNTIME], scale);
    values[BALANCE] = t.work_of_busiest > 0 ? (double)work / (double)t.work_of_busiest : NAN;
    values[IMBALANCE] = scaled_value(sum_difference(t.work_of_busiest, work), scale);
    values[EFFICIENCY] = t.time_ns > 0 ? values[WORK] / (t.time_ns / 1e9) : NAN;
}

static bool in_region(const struct tree *t, uint32_t c)
{
    while (c != HQDB_NONE && !tree_has_team(t, tree_scope_of(t, c)))
        c = tree_parent(t, c);
    return c != HQDB_NONE;
}

/* Found of one region after another, for the notes below them. */
struct measuring {
    struct run *run;
    const struct measure *clock;  /* NULL: no time was sampled, and none is chosen */
    struct chosen chosen;         /* of that */
    struct entered *entered;      /* regions_entered */
    uint8_t *looked;              /* [context] time_beside was there */
    double own, overhead, inside; /* seconds: what hq did, all of the runtime's, and all */
    int64_t beside;               /* time_beside of all */
    size_t doubtful, by_chance;   /* regions */
    size_t partly, untimed;       /* likewise (struct region_counts) */
};

/* Returns what the runtime takes beside the regions of these contexts, called from where they lie: threads are started
 * before a region is there. Each parent is looked at once. */
static int64_t time_beside(struct measuring *m, struct db_list regions)
{
    const struct tree *t = m->run->tree;
    int64_t sum = 0;

    for (size_t i = 0; i < regions.len; i++) {
        uint32_t parent = tree_parent(t, regions.data[i]);

        if (parent == HQDB_NONE || m->looked[parent] || in_region(t, parent))
            continue;
        m->looked[parent] = 1;
        for (uint32_t c = parent + 1; c < tree_end(t, parent); c = tree_end(t, c)) {
            if (tree_kind(t, c) != SCOPE_RUNTIME || tree_is_own_work(t, c))
                continue;
            struct chosen_values v = chosen_values(&m->chosen, tree_range(t, c));
            struct db_value x;

            while (chosen_next(&v, &x))
                sum_add(&sum, x.sum);
        }
    }
    return sum;
}

static void set_counts(const struct run *run, const struct region_counts *c, double *values)
{
    values[ENTRIES] = (double)c->entries;
    values[ELAPSED] = (double)c->elapsed_ns / 1e9;
    if (!c->any || c->partly || c->untimed)
        values[ENTRIES] = values[ELAPSED] = NAN; /* !any: recorded without */
    if (c->partly || c->untimed || !has_efficiency(run))
        values[EFFICIENCY] = NAN;
}

/* False if nothing of it was chosen. */
static bool measure_region(struct measuring *m, uint32_t scope, struct db_list contexts, double *slots)
{
    const struct run *run = m->run;
    const struct db *db = run->tree->db;
    double values[MEASURES] = {0}, scale = m->clock ? m->clock->scale : 1;
    AUTO_FREE int64_t *work = xcalloc(db->profile_count + 1, sizeof *work);
    AUTO_FREE uint8_t *seen = xcalloc(db->profile_count + 1, 1), *opened = xcalloc(db->profile_count + 1, 1);
    struct sums sums = {.work = work, .seen = seen};
    AUTO_FREE uint32_t *largest = xcalloc(db->profile_count + 1, sizeof *largest);
    struct teams teams = {.opened = opened, .largest = largest};
    struct region_counts counts = regions_count(run, m->entered, scope, &teams);
    uint32_t covered = 0;

    for (size_t i = 0; i < contexts.len && m->clock; i++) {
        if (contexts.data[i] < covered)
            continue;
        add_context(run, &m->chosen, contexts.data[i], &sums);
        covered = tree_end(run->tree, contexts.data[i]);
    }
    derive(values, &sums, scale, teams_sum(&teams, &sums, db));
    set_counts(run, &counts, values);
    bool may_miss = m->clock && teams_may_miss_threads(&teams, &sums, db, values[TEAM]);
    for (size_t i = teams_are_known(&teams) ? TEAM + 1 : TEAM; i < MEASURES && !m->clock; i++)
        values[i] = NAN;
    map_deinit(&teams.of);
    vec_deinit(&teams.data);
    for (size_t i = 0; i < MEASURES; i++)
        slots[2 * i] = slots[2 * i + 1] = values[i];
    if ((run->selection.sliced || run->selection.keep) && !sums.samples && !counts.entries && !counts.elapsed_ns)
        return false;
    m->own += m->clock ? scaled_value(sums.own, scale) : 0;
    m->doubtful += may_miss;
    m->partly += counts.partly;
    m->untimed += counts.untimed && !counts.partly;
    return true;
}

static void set_measures(struct run *run)
{
    struct selection *s = &run->selection;

    vec_clear(&s->measures);
    for (size_t i = 0; i < MEASURES; i++) {
        struct measure m = measure_of_view(measures[i].name, measures[i].name, measures[i].dim, measures[i].scale);

        m.spare = measures[i].spare;
        vec_push(&s->measures, m);
    }
    s->here_count = MEASURES;
}

/* Tells of what the times of the regions lack, or have by chance. */
static void note_times(const struct measuring *m, size_t regions)
{
    struct run *run = m->run;
    char text[UNITS_TEXT];

    if (m->own > 0.05 * m->overhead) {
        units_format(text, m->own, DIM_SECONDS);
        run_note(run, "%s of the overhead is what hq record itself did in the regions, " HQDB_OWN_WORK, text);
    }
    if (regions)
        note_crowded(run);
    double beside = m->beside ? scaled_value(m->beside, m->clock->scale) : 0;

    if (beside > 0.01 * (m->inside + beside)) {
        units_format(text, beside, DIM_SECONDS);
        run_note(run,
                 "%s of [fork, join, scheduling] stands beside these regions in the tree, for their threads are "
                 "started before they begin: it is in `elapsed`, but in no region's work, waiting or overhead",
                 text);
    }
    if (m->doubtful)
        run_note(run,
                 "in %zu of %zu regions too few samples fell to see every thread: there `team` may be too small, and "
                 "balance and efficiency too high",
                 m->doubtful, regions);
    if (m->by_chance)
        run_note(run,
                 "in %zu of %zu regions more work was sampled than their threads had time: those were open too short "
                 "for the period of the samples, and their sampled times are known by chance only",
                 m->by_chance, regions);
}

/* Where what was counted is not of what was chosen. */
static void note_counts(const struct measuring *m, size_t regions)
{
    if (m->partly)
        run_note(m->run,
                 "entries, elapsed and efficiency are of a whole region: they are blank in %zu of %zu, of which "
                 "`through` chooses a part",
                 m->partly, regions);
    if (m->untimed)
        run_note(m->run,
                 "which entries of %zu of %zu regions lie in the slice is not known: they are not in the traces, or "
                 "samples alone tell where the slice ends; so entries, elapsed and efficiency are blank",
                 m->untimed, regions);
    else if (regions && !has_efficiency(m->run))
        run_note(m->run, "efficiency is blank: each thread has visits of its own to what stands behind `during`");
}

static void add_region(struct measuring *m, uint32_t scope, struct db_list contexts, struct nodes *nodes)
{
    const struct tree *t = m->run->tree;
    struct arena *arena = &m->run->arena;
    struct node n = node_of_set(t, scope, (struct set){contexts.data, contexts.len});
    uint32_t host = tree_enclosing(t, scope, SCOPE_PROCEDURE);
    double *slots = ARENA_ARRAY(arena, 2 * MEASURES, double);

    if (!measure_region(m, scope, contexts, slots))
        return;
    if (m->clock)
        m->beside += time_beside(m, contexts);
    for (int k = WORK; k <= RUNTIME; k++)
        m->inside += isnan(slots[2 * k]) ? 0 : slots[2 * k];
    m->by_chance += slots[2 * EFFICIENCY] > 1.005; /* NaN is not */
    m->overhead += isnan(slots[2 * RUNTIME]) ? 0 : slots[2 * RUNTIME];
    n.slots = slots;
    n.leaf = true;
    n.rule = EXCLUSIVE_NONE;
    n.text = host == HQDB_NONE ? NULL : tree_scope_name(t, host, arena);
    n.id = hash_combine(hash_str(tree_scope_name(t, scope, arena)), n.text ? hash_str(n.text) : 0);
    vec_push(nodes, n);
}

/* Returns whether any region was seen, chosen or not. */
static bool add_regions(struct measuring *m, struct nodes *nodes)
{
    const struct tree *t = m->run->tree;
    const uint8_t *wanted = run_wanted(m->run, KIND_BIT(SCOPE_REGION));
    bool any = false;

    for (uint32_t i = 0; i < t->scope_count && !run_interrupted(m->run); i++) {
        struct db_list l = tree_instances(t, i);

        if (!tree_has_team(t, i) || !l.len)
            continue;
        any = true;
        if (!wanted || wanted[i])
            add_region(m, i, l, nodes);
    }
    return any;
}

static struct hq_error *regions_prepare(struct run *run)
{
    size_t clock = clock_measure(run);
    AUTO_FREE uint8_t *looked = xcalloc(run->tree->context_count + 1, 1);
    AUTO_FREE struct entered *entered = regions_entered(run);
    struct measuring m = {.run = run, .looked = looked, .entered = entered};
    struct nodes nodes = {0};

    if (clock != SIZE_MAX) {
        m.clock = &run->selection.measures.data[clock];
        struct hq_error *err = chosen_init(&m.chosen, &run->selection, m.clock->metric);

        if (err) {
            chosen_deinit(&m.chosen);
            return err;
        }
    }
    bool any = add_regions(&m, &nodes);

    chosen_deinit(&m.chosen);
    note_times(&m, nodes.len);
    note_counts(&m, nodes.len);
    run->prepared.data = ARENA_ARRAY(&run->arena, nodes.len, struct node);
    run->prepared.len = nodes.len;
    if (nodes.len)
        memcpy(run->prepared.data, nodes.data, nodes.len * sizeof *nodes.data);
    else if (any && !run->of.problem)
        run_note(run, "no parallel region lies in it, of those that were seen");
    else if (!any)
        run_unmeasured(
            run, "no parallel region was seen; those of a runtime that is linked statically, of recordings of version "
                 "0.1 and of other tools' profiles are not known");
    vec_deinit(&nodes);
    set_measures(run);
    return NULL;
}

const struct view_row view_regions = {
    .shape = SHAPE_LIST,
    .of_kinds = KINDS_STATIC,
    .row_kinds = KIND_BIT(SCOPE_REGION),
    .beside = "procedure",
    .prepare = regions_prepare,
    .roots = roots_prepared,
};
