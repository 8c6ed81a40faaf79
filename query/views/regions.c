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
 *
 * A runtime may end threads and make others in their place (libgomp, when a team is smaller than the one before, and
 * for each nested one). So where more threads were sampled than the team has, those that lived one after the other
 * count as one.
 */
#include "common/hash.h"
#include "common/map.h"
#include "common/vec.h"
#include "query/choose/helpers.h"
#include "query/shape/rows.h"
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

/* The share of a region's time that a frame belongs to. */
enum share { SHARE_WORK, SHARE_WAITING, SHARE_RUNTIME };

/* The measure of time that was sampled, SIZE_MAX if there is none. */
static size_t clock_measure(const struct run *run)
{
    for (size_t i = 0; i < run->selection.measures.len; i++) {
        const struct measure *m = &run->selection.measures.data[i];

        if (m->dim == DIM_SECONDS && m->side == SIDE_HERE && m->flags & HQDB_METRIC_SAMPLED)
            return i;
    }
    return SIZE_MAX;
}

static bool is_selected(const struct run *run, uint32_t profile)
{
    return !run->selection.profiles || run->selection.profiles[profile];
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

/* So many samples a thread, and one that has none is improbable: e^-5. */
enum { ENOUGH = 5 };

/* In units of the metric: exact, whatever their order. */
struct sums {
    int64_t share[3];
    int64_t own; /* of the runtime's share: what measuring took */
    uint64_t samples;
    int64_t *work; /* [profile] */
    uint8_t *seen; /* [profile] enum seen */
    bool nested;   /* other regions lie in it */
};
enum seen { SEEN_NOT, SEEN, SEEN_UNASKED };

/* The threads of one process in a region. */
struct team {
    int64_t threads, most;        /* as they were sampled */
    uint64_t elapsed_ns, openers; /* by all that open it, each of which has its share of the threads */
    int64_t largest;              /* of all openers together, by the runtime's count */
    double time_ns;               /* threads by elapsed time, likewise */
    bool unknown;                 /* that count does not hold */
};
struct teams {
    struct map of; /* process -> place in `data` */
    VEC(struct team) data;
    uint8_t *opened;   /* [profile] */
    uint32_t *largest; /* [profile] */
};

static struct team *team_of(struct teams *t, const struct hqdb_profile *p)
{
    bool is_new;
    uint64_t *at = map_insert(&t->of, helpers_process(p), t->data.len, &is_new);

    if (is_new)
        vec_push(&t->data, (struct team){0});
    return &t->data.data[*at];
}

static void add_context(const struct run *run, uint32_t metric, uint32_t region, struct sums *s)
{
    const struct db *db = run->tree->db;
    struct db_range r = tree_range(run->tree, region);
    struct db_values v = db_frame_values(db, r, metric);
    struct db_value x;
    uint32_t context = region;

    for (uint32_t c = region + 1; c < tree_end(run->tree, region) && !s->nested; c++)
        s->nested = tree_kind(run->tree, c) == SCOPE_REGION;
    while (db_value_next(&v, &x)) {
        if (x.profile >= db->profile_count)
            continue;
        if (!is_selected(run, x.profile)) {
            s->seen[x.profile] = SEEN_UNASKED;
            continue;
        }
        context = db_frame_context(db, x.frame);
        enum share share = share_of(run->tree, context, region);

        sum_add(&s->share[share], x.sum);
        if (share == SHARE_RUNTIME && tree_is_own_work(run->tree, context))
            sum_add(&s->own, x.sum);
        s->samples += x.count;
        s->seen[x.profile] = SEEN;
        if (share == SHARE_WORK)
            sum_add(&s->work[x.profile], x.sum);
    }
}

/* Threads that lived one after the other. */
struct seat {
    uint64_t end_us;
    int64_t work;     /* of all */
    uint32_t largest; /* team that one of them opened */
};
struct seats {
    VEC(struct seat) data;
};

/* The seat that a thread takes. One whose thread ended while this one began is free, too: runtimes do not wait for
 * that. Where all threads are of one team, there are no more seats than it has. */
static struct seat *seat_for(struct seats *seats, const struct hqdb_profile *p, int64_t team, bool one_team)
{
    uint64_t end = p->end_us ? p->end_us : UINT64_MAX, start = p->start_us < end ? p->start_us : end;
    struct seat *first = NULL;

    if ((int64_t)seats->data.len >= team)
        vec_foreach(seat, &seats->data) {
            if (seat->end_us <= start + (end - start) / 10)
                return seat;
            first = first && first->end_us <= seat->end_us ? first : seat;
        }
    if (first && one_team)
        return first;
    vec_push(&seats->data, (struct seat){0});
    return &vec_last(&seats->data);
}

/* Counts the threads of a process by their seats: there are more of them than its team has. */
static void join_threads(struct team *team, const struct sums *s, struct teams *teams, const struct db *db,
                         bool one_team)
{
    struct seats seats = {0};

    for (uint32_t p = 0; p < db->profile_count; p++) {
        const struct hqdb_profile *profile = &db->profiles[p];

        if (s->seen[p] != SEEN || team_of(teams, profile) != team)
            continue;
        struct seat *seat = seat_for(&seats, profile, team->largest, one_team);

        seat->end_us = profile->end_us ? profile->end_us : UINT64_MAX;
        sum_add(&seat->work, s->work[p]);
        team->most = seat->work > team->most ? seat->work : team->most;
    }
    team->threads = (int64_t)seats.data.len;
    vec_deinit(&seats.data);
}

static void derive(double *values, const struct sums *s, double scale, struct teams *teams, const struct db *db)
{
    int64_t threads = 0, work_of_busiest = 0, work = s->share[SHARE_WORK];
    double time_ns = 0;

    for (uint32_t p = 0; p < db->profile_count; p++)
        if (s->seen[p] == SEEN) {
            struct team *team = team_of(teams, &db->profiles[p]);

            team->threads++;
            team->most = s->work[p] > team->most ? s->work[p] : team->most;
        } else if (s->seen[p] == SEEN_UNASKED)
            team_of(teams, &db->profiles[p])->unknown = true;
    vec_foreach(team, &teams->data) {
        if (!team->unknown && team->largest && team->largest < team->threads)
            join_threads(team, s, teams, db, !s->nested && team->openers == 1);
        team->unknown |= team->largest < team->threads;
        if (team->unknown) {
            team->largest = team->threads;
            team->time_ns = team->openers ? (double)team->threads * (double)team->elapsed_ns / (double)team->openers
                                          : 0;
        }
        threads += team->largest;
        sum_add(&work_of_busiest, sum_times(team->most, team->largest));
        time_ns += team->time_ns;
    }
    values[TEAM] = (double)threads;
    values[WORK] = scaled_value(work, scale);
    values[WAITING] = scaled_value(s->share[SHARE_WAITING], scale);
    values[RUNTIME] = scaled_value(s->share[SHARE_RUNTIME], scale);
    values[BALANCE] = work_of_busiest > 0 ? (double)work / (double)work_of_busiest : NAN;
    values[IMBALANCE] = scaled_value(sum_difference(work_of_busiest, work), scale);
    values[EFFICIENCY] = time_ns > 0 ? values[WORK] / (time_ns / 1e9) : NAN;
}

/* Counts the teams of a process: of threads that lived one after the other, and opened the region, the largest one. */
static void seat_openers(struct team *team, struct teams *teams, const struct db *db)
{
    struct seats seats = {0};

    for (uint32_t p = 0; p < db->profile_count; p++) {
        const struct hqdb_profile *profile = &db->profiles[p];

        if (!teams->opened[p] || team_of(teams, profile) != team)
            continue;
        struct seat *seat = seat_for(&seats, profile, 0, false);

        seat->end_us = profile->end_us ? profile->end_us : UINT64_MAX;
        seat->largest = teams->largest[p] > seat->largest ? teams->largest[p] : seat->largest;
    }
    team->openers = seats.data.len;
    team->largest = 0;
    vec_foreach(seat, &seats.data)
        team->largest += seat->largest;
    vec_deinit(&seats.data);
}

static double mean_team(const struct hqdb_region *r)
{
    return r->entries ? (double)r->threads / (double)r->entries : 0;
}

/* Adds what was counted where the region was opened; false if it was opened in none of the chosen profiles. */
static bool add_counts(const struct run *run, uint32_t scope, double *values, struct teams *teams)
{
    const struct db *db = run->tree->db;
    uint64_t elapsed_ns = 0;
    bool any = false;

    for (size_t i = 0; i < db->region_count; i++) {
        const struct hqdb_region *r = &db->regions[i];

        if (r->frame >= db->frame_count || r->profile >= db->profile_count || !is_selected(run, r->profile) ||
            tree_scope_of(run->tree, db_frame_context(db, r->frame)) != scope)
            continue;
        values[ENTRIES] += (double)r->entries;
        elapsed_ns += r->elapsed_ns;

        struct team *team = team_of(teams, &db->profiles[r->profile]);

        team->elapsed_ns += r->elapsed_ns;
        team->openers += !teams->opened[r->profile];
        teams->opened[r->profile] = 1;
        team->unknown |= !r->largest;
        team->time_ns += (double)r->elapsed_ns * mean_team(r);
        if (r->largest > teams->largest[r->profile])
            teams->largest[r->profile] = r->largest;
        any = true;
    }
    vec_foreach(team, &teams->data)
        seat_openers(team, teams, db);
    values[ELAPSED] = (double)elapsed_ns / 1e9;
    return any;
}

/* Whether threads of its processes may have worked in a region without a sample in it. */
static bool may_miss_threads(const struct db *db, const struct sums *s, struct teams *teams, double team)
{
    if ((double)s->samples >= ENOUGH * team)
        return false;
    for (uint32_t p = 0; p < db->profile_count; p++) {
        const uint64_t *at = map_find(&teams->of, helpers_process(&db->profiles[p]));

        if (!s->seen[p] && !db_is_queue(db, p) && at && teams->data.data[*at].unknown)
            return true;
    }
    return false;
}

/* Whether the runtimes' counts tell the threads of a region. */
static bool teams_are_known(const struct teams *t)
{
    for (size_t i = 0; i < t->data.len; i++)
        if (t->data.data[i].unknown)
            return false;
    return t->data.len;
}

static bool in_region(const struct tree *t, uint32_t c)
{
    while (c != HQDB_NONE && tree_kind(t, c) != SCOPE_REGION)
        c = tree_parent(t, c);
    return c != HQDB_NONE;
}

/* Returns what the runtime takes beside the regions of these contexts, called from where they lie: threads are started
 * before a region is there. Each parent is looked at once. */
static int64_t time_beside(const struct run *run, struct db_list regions, uint32_t metric, uint8_t *looked)
{
    const struct tree *t = run->tree;
    int64_t sum = 0;

    for (size_t i = 0; i < regions.len; i++) {
        uint32_t parent = tree_parent(t, regions.data[i]);

        if (parent == HQDB_NONE || looked[parent] || in_region(t, parent))
            continue;
        looked[parent] = 1;
        for (uint32_t c = parent + 1; c < tree_end(t, parent); c = tree_end(t, c)) {
            if (tree_kind(t, c) != SCOPE_RUNTIME || tree_is_own_work(t, c))
                continue;
            struct db_values v = db_frame_values(t->db, tree_range(t, c), metric);
            struct db_value x;

            while (db_value_next(&v, &x))
                if (x.profile < t->db->profile_count && is_selected(run, x.profile))
                    sum_add(&sum, x.sum);
        }
    }
    return sum;
}

/* True if its team may be larger than what was seen of it. */
static bool measure_region(struct run *run, uint32_t scope, struct db_list contexts, size_t clock, double *slots,
                           double *own)
{
    const struct db *db = run->tree->db;
    double values[MEASURES] = {0};
    AUTO_FREE int64_t *work = xcalloc(db->profile_count + 1, sizeof *work);
    AUTO_FREE uint8_t *seen = xcalloc(db->profile_count + 1, 1), *opened = xcalloc(db->profile_count + 1, 1);
    struct sums sums = {.work = work, .seen = seen};
    AUTO_FREE uint32_t *largest = xcalloc(db->profile_count + 1, sizeof *largest);
    struct teams teams = {.opened = opened, .largest = largest};
    uint32_t covered = 0;

    if (!add_counts(run, scope, values, &teams))
        values[ENTRIES] = values[ELAPSED] = NAN; /* recorded without */
    for (size_t i = 0; i < contexts.len && clock != SIZE_MAX; i++) {
        if (contexts.data[i] < covered)
            continue;
        add_context(run, run->selection.measures.data[clock].metric, contexts.data[i], &sums);
        covered = tree_end(run->tree, contexts.data[i]);
    }
    derive(values, &sums, clock == SIZE_MAX ? 1 : run->selection.measures.data[clock].scale, &teams, db);
    *own += clock == SIZE_MAX ? 0 : scaled_value(sums.own, run->selection.measures.data[clock].scale);
    bool doubtful = clock != SIZE_MAX && may_miss_threads(db, &sums, &teams, values[TEAM]);
    for (size_t i = teams_are_known(&teams) ? TEAM + 1 : TEAM; i < MEASURES && clock == SIZE_MAX; i++)
        values[i] = NAN;
    map_deinit(&teams.of);
    vec_deinit(&teams.data);
    for (size_t i = 0; i < MEASURES; i++)
        slots[2 * i] = slots[2 * i + 1] = values[i];
    return doubtful;
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

static struct hq_error *regions_prepare(struct run *run)
{
    const struct tree *t = run->tree;
    const uint8_t *wanted = run_wanted(run, KIND_BIT(SCOPE_REGION));
    size_t clock = clock_measure(run);
    VEC(struct node) nodes = {0};
    bool any = false;
    size_t doubtful = 0, by_chance = 0;
    double own = 0, overhead = 0, inside = 0;
    int64_t beside = 0;
    AUTO_FREE uint8_t *looked = xcalloc(t->context_count + 1, 1);

    for (uint32_t i = 0; i < t->scope_count && !run_interrupted(run); i++) {
        struct db_list l = tree_instances(t, i);

        if (t->scopes[i].kind != SCOPE_REGION || !l.len)
            continue;
        any = true;
        if (wanted && !wanted[i])
            continue;
        struct node n = node_of_set(t, i, (struct set){l.data, l.len});
        double *slots = ARENA_ARRAY(&run->arena, 2 * MEASURES, double);
        uint32_t host = tree_enclosing(t, i, SCOPE_PROCEDURE);

        doubtful += measure_region(run, i, l, clock, slots, &own);
        if (clock != SIZE_MAX)
            beside += time_beside(run, l, run->selection.measures.data[clock].metric, looked);
        for (int k = WORK; k <= RUNTIME; k++)
            inside += isnan(slots[2 * k]) ? 0 : slots[2 * k];
        by_chance += slots[2 * EFFICIENCY] > 1.005; /* NaN is not */
        overhead += isnan(slots[2 * RUNTIME]) ? 0 : slots[2 * RUNTIME];
        n.slots = slots;
        n.leaf = true;
        n.rule = EXCLUSIVE_NONE;
        n.text = host == HQDB_NONE ? NULL : tree_scope_name(t, host, &run->arena);
        n.id = hash_combine(hash_str(tree_scope_name(t, i, &run->arena)), n.text ? hash_str(n.text) : 0);
        vec_push(&nodes, n);
    }
    if (own > 0.05 * overhead) {
        char text[UNITS_TEXT];

        units_format(text, own, DIM_SECONDS);
        run_note(run, "%s of the overhead is what hq record itself did in the regions, " HQDB_OWN_WORK, text);
    }
    if (nodes.len)
        note_crowded(run);
    if (beside) {
        double seconds = scaled_value(beside, run->selection.measures.data[clock].scale);
        char text[UNITS_TEXT];

        units_format(text, seconds, DIM_SECONDS);
        if (seconds > 0.01 * (inside + seconds))
            run_note(run,
                     "%s of [fork, join, scheduling] stands beside these regions in the tree, for their threads are "
                     "started before they begin: it is in `elapsed`, but in no region's work, waiting or overhead",
                     text);
    }
    if (doubtful)
        run_note(run,
                 "in %zu of %zu regions too few samples fell to see every thread: there `team` may be too small, and "
                 "balance and efficiency too high",
                 doubtful, nodes.len);
    if (by_chance)
        run_note(run,
                 "in %zu of %zu regions more work was sampled than their threads had time: those were open too short "
                 "for the period of the samples, and their sampled times are known by chance only",
                 by_chance, nodes.len);
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
