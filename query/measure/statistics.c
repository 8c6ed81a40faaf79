/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics over profiles. Absent profiles count as zero; if any selected profile has a rank, only those with one
 * count.
 *
 * Three ways, by cost: what the database has stored for a context or scope; the values of the frames concerned, by
 * frame; or one pass over the profiles for all entries at once, with a prefix sum of each profile's values. The memory
 * does not grow with the number of profiles but for percentiles, which keep the values of a batch of entries.
 */
#include "query/measure/statistics.h"
#include "query/choose/profiles.h"
#include "query/measure/accumulator.h"
#include "query/measure/interval.h"
#include "query/view.h"
#include <math.h>

#define KEPT_BYTES ((size_t)192 << 20) /* of values kept at a time for percentiles */

/* ---- what the database has stored ---- */

static const struct hqdb_statistics *stored(const struct run *run, const struct entry *e, unsigned slot,
                                            struct hqdb_statistics *room)
{
    const struct db *db = run->tree->db;
    uint32_t metric = run->selection.measures.data[slot / 2].metric;
    const struct node *n = &e->node;

    if (slot % 2)
        return NULL;
    if (n->context != HQDB_NONE)
        return n->profile == HQDB_NONE ? db_context_statistics(db, metric, n->context, room) : NULL;
    if (n->scope != HQDB_NONE && n->inc.data && n->inc.data == tree_instances(run->tree, n->scope).data &&
        n->inc.len == tree_instances(run->tree, n->scope).len)
        return db_scope_statistics(db, metric, n->scope);
    return NULL;
}

/* n times the sum of squared deviations, in integers where they are large enough for it. */
static double deviations(const struct hqdb_statistics *x, uint64_t n)
{
    unsigned __int128 squares = (unsigned __int128)x->squares[1] << 64 | x->squares[0], all, sum;
    uint64_t magnitude = x->sum < 0 ? -(uint64_t)x->sum : (uint64_t)x->sum;

    sum = (unsigned __int128)magnitude * magnitude;
    if (!__builtin_mul_overflow(squares, (unsigned __int128)n, &all))
        return all > sum ? (double)(all - sum) : 0;
    return fmax((double)squares * (double)n - (double)sum, 0);
}

static bool from_stored(const struct run *run, const struct entry *e, const struct statistic *s, double *out)
{
    const struct hqdb_statistics *x;
    struct hqdb_statistics room;
    uint64_t n;
    double scale, total;

    if (s->arg->kind != PROGRAM_SLOT || is_percentile(s->function) || !(x = stored(run, e, s->arg->slot, &room)))
        return false;
    n = db_statistics_profiles(run->tree->db, run->selection.measures.data[s->arg->slot / 2].metric);
    if (!n)
        return false;
    scale = run->selection.measures.data[s->arg->slot / 2].scale;
    total = scaled_value(x->sum, scale);
    struct accumulator a = {.n = n,
                            .nonzero = x->count,
                            .origin = total / (double)n,
                            .min = scaled_value(x->min, scale),
                            .max = scaled_value(x->max, scale),
                            .squares = deviations(x, n) / (double)n * scale * scale};

    *out = accumulator_value(&a, s->function);
    return true;
}

static void place_of_statistics(struct run *run, struct entry *e)
{
    size_t n = run->binding.statistics.len;

    if (e->statistics)
        return;
    e->statistics = ARENA_ARRAY(&run->arena, n, double);
    for (size_t i = 0; i < n; i++)
        e->statistics[i] = NAN;
}

static bool all_stored(struct run *run, struct entry *e, const bool *wanted)
{
    double values[16];
    size_t n = run->binding.statistics.len;

    if (n > 16)
        return false;
    for (size_t i = 0; i < n; i++)
        if (wanted[i] && run->binding.statistics.data[i].function != FUNCTION_CI &&
            !from_stored(run, e, &run->binding.statistics.data[i], &values[i]))
            return false;
    place_of_statistics(run, e);
    for (size_t i = 0; i < n; i++)
        if (wanted[i])
            e->statistics[i] = values[i];
    return true;
}

/* ---- from values ---- */

/*
 * The statistic that accumulates for statistic i: an earlier one of the same plain metric, or itself. Percentiles and
 * ci have their own.
 */
static size_t shared_with(const struct run *run, size_t i)
{
    const struct statistic *all = run->binding.statistics.data;

    for (size_t k = 0; k < i && all[i].arg->kind == PROGRAM_SLOT && !is_percentile(all[i].function); k++)
        if (all[k].arg->kind == PROGRAM_SLOT && all[k].arg->slot == all[i].arg->slot &&
            !is_percentile(all[k].function) && all[k].function != FUNCTION_CI)
            return k;
    return i;
}

struct measured { /* an entry at work */
    struct entry *entry;
    struct ranges ranges[2];          /* inclusive, exclusive */
    struct accumulator *accumulators; /* [statistics] */
};

struct batch {
    struct run *run;
    struct groups_of_profiles groups;
    const bool *wanted; /* [statistics] that are over these groups */
    uint8_t *slots;     /* [2 * measures] needed by a statistic */
    struct measured *items;
    size_t count;
    double *values; /* [2 * measures] scratch */
    size_t *feeds;  /* statistics that accumulate */
    size_t feed_count;
};

/* One profile's values of an entry, which stand in b->values. */
static void accumulate_all(struct batch *b, struct measured *m)
{
    const struct statistic *all = b->run->binding.statistics.data;
    struct point at = {.number = point_number(), .slots = b->values, .totals = b->run->totals};

    for (size_t k = 0; k < b->feed_count; k++) {
        const struct program *arg = all[b->feeds[k]].arg;

        accumulate(&m->accumulators[b->feeds[k]],
                   arg->kind == PROGRAM_SLOT ? b->values[arg->slot] : program_number(arg, &at));
    }
}

static void want_slot(void *arg, unsigned slot)
{
    ((uint8_t *)arg)[slot] = 1;
}

/* Feeds one group's values of one entry; prefix[measure]: prefix sums of the group. */
static void feed(struct batch *b, struct measured *m, int64_t *const *prefix)
{
    const struct selection *s = &b->run->selection;

    for (size_t k = 0; k < 2 * s->measures.len; k++)
        if (b->slots[k])
            b->values[k] = scaled_value(ranges_sum(&m->ranges[k % 2], prefix[k / 2]), s->measures.data[k / 2].scale);
    accumulate_all(b, m);
}

static struct hq_error *pass_over_profiles(struct batch *b)
{
    struct run *run = b->run;
    size_t measures = run->selection.measures.len, n = run->tree->position_count;
    int64_t **prefix = xcalloc(measures + 1, sizeof *prefix);
    struct hq_error *err = NULL;

    for (size_t m = 0; m < measures; m++)
        if (b->slots[2 * m] || b->slots[2 * m + 1])
            prefix[m] = xcalloc(n + 1, sizeof **prefix);
    for (uint32_t g = 0; g < b->groups.count && !err; g++) {
        for (size_t m = 0; m < measures && !err; m++)
            if (prefix[m])
                err = profiles_prefix(&run->selection, &b->groups, g, run->selection.measures.data[m].metric,
                                      prefix[m]);
        for (size_t i = 0; i < b->count && !err; i++)
            feed(b, &b->items[i], prefix);
        if (run_interrupted(run) && !err)
            err = hq_error_new(QUERY_INTERRUPTED, "interrupted");
    }
    for (size_t m = 0; m < measures; m++)
        free(prefix[m]);
    free(prefix);
    return err;
}

/* ---- the same by frame: for few entries with few frames ---- */

static void add_frames(struct batch *b, const struct ranges *ranges, uint32_t metric, int64_t *by_group)
{
    for (size_t i = 0; i < ranges->len; i++) {
        struct db_values v = db_frame_values(b->run->tree->db, ranges->data[i], metric);
        struct db_value x;

        while (db_value_next(&v, &x))
            if (x.profile < b->groups.profile_count && b->groups.of[x.profile] != HQDB_NONE)
                sum_add(&by_group[b->groups.of[x.profile]], x.sum);
    }
}

static void pass_over_frames(struct batch *b, struct measured *m)
{
    struct run *run = b->run;
    size_t slots = 2 * run->selection.measures.len;
    int64_t **sums = xcalloc(slots + 1, sizeof *sums);

    for (size_t s = 0; s < slots; s++)
        if (b->slots[s]) {
            sums[s] = xcalloc(b->groups.count + 1, sizeof **sums);
            add_frames(b, &m->ranges[s % 2], run->selection.measures.data[s / 2].metric, sums[s]);
        }
    for (uint32_t g = 0; g < b->groups.count; g++) {
        for (size_t s = 0; s < slots; s++)
            if (sums[s])
                b->values[s] = scaled_value(sums[s][g], run->selection.measures.data[s / 2].scale);
        accumulate_all(b, m);
    }
    for (size_t s = 0; s < slots; s++)
        free(sums[s]);
    free(sums);
}

/* ---- batches ---- */

static void start(struct batch *b, struct measured *m, struct entry *e)
{
    struct run *run = b->run;
    size_t n = run->binding.statistics.len;

    m->entry = e;
    node_ranges(run->tree, &e->node, false, &m->ranges[0]);
    node_ranges(run->tree, &e->node, true, &m->ranges[1]);
    m->accumulators = xcalloc(n, sizeof *m->accumulators);
    for (size_t i = 0; i < n; i++)
        if (is_percentile(run->binding.statistics.data[i].function))
            m->accumulators[i].values = xcalloc(b->groups.count + 1, sizeof(double));
}

static void end(struct batch *b, struct measured *m)
{
    struct run *run = b->run;
    size_t n = run->binding.statistics.len;

    place_of_statistics(run, m->entry);
    for (size_t i = 0; i < n; i++)
        if (b->wanted[i])
            m->entry->statistics[i] = accumulator_value(&m->accumulators[shared_with(run, i)],
                                                        run->binding.statistics.data[i].function);
    for (size_t i = 0; i < n; i++)
        free(m->accumulators[i].values);
    free(m->accumulators);
    vec_deinit(&m->ranges[0]);
    vec_deinit(&m->ranges[1]);
}

static uint64_t frames_of(const struct batch *b)
{
    uint64_t n = 0;

    for (size_t i = 0; i < b->count; i++)
        for (size_t s = 0; s < 2; s++)
            for (size_t k = 0; k < b->items[i].ranges[s].len; k++)
                n += b->items[i].ranges[s].data[k].last - b->items[i].ranges[s].data[k].first;
    return n;
}

static struct hq_error *run_batch(struct batch *b)
{
    struct hq_error *err = NULL;

    if (!b->count)
        return NULL;
    if (profiles_by_frame(&b->run->selection) && frames_of(b) < b->run->tree->position_count) {
        for (size_t i = 0; i < b->count && !run_interrupted(b->run); i++)
            pass_over_frames(b, &b->items[i]);
    } else {
        err = pass_over_profiles(b);
    }
    for (size_t i = 0; i < b->count; i++)
        end(b, &b->items[i]);
    b->count = 0;
    return err;
}

static struct hq_error *compute(struct batch *b, struct entry **entries, size_t n, bool keeps_values)
{
    size_t fits = KEPT_BYTES / ((b->groups.count + 1) * sizeof(double) * b->run->binding.statistics.len), size = n;
    struct hq_error *err = NULL;

    if (keeps_values && fits < n)
        size = fits ? fits : 1;
    b->items = xcalloc(size + 1, sizeof *b->items);
    for (size_t i = 0; i < n && !err; i++) {
        memset(&b->items[b->count], 0, sizeof *b->items);
        start(b, &b->items[b->count++], entries[i]);
        if (b->count == size)
            err = run_batch(b);
    }
    if (!err)
        err = run_batch(b);
    free(b->items);
    return err;
}

struct metric_found {
    const struct run *run;
    uint32_t metric;
};

static void find_metric(void *arg, unsigned slot)
{
    struct metric_found *f = arg;
    const struct measure *m = &f->run->selection.measures.data[slot / 2];

    if (f->metric == HQDB_NONE && m->side == SIDE_HERE && !m->of_view)
        f->metric = m->metric;
}

/* Returns the metric of the first statistic, in which what it leaves out is told; HQDB_NONE: any. */
static uint32_t metric_of_statistics(struct run *run)
{
    struct metric_found f = {run, HQDB_NONE};

    vec_foreach(s, &run->binding.statistics)
        program_slots(s->arg, find_metric, &f);
    return f.metric;
}

/* Notes what the statistics are over, if not over single profiles, or not over the rows. */
static void note_groups(struct run *run, enum per per, const struct groups_of_profiles *g)
{
    if (run->statistics_told)
        return;
    run->statistics_told = true;

    const struct hqdb_profile *profiles = run->selection.tree.db->profiles;
    uint32_t others = 0;

    for (uint32_t i = 0; i < g->start[g->count]; i++)
        others += profiles[g->profiles[i]].rank < 0;
    uint32_t ranks = g->count - others;

    if (per == PER_RANK && ranks && others)
        run_note(run, "statistics are over %u rank%s, each the sum of its threads, and %u thread%s of no rank", ranks,
                 ranks == 1 ? "" : "s", others, others == 1 ? "" : "s");
    else if (per == PER_RANK && g->start[g->count] > g->count)
        run_note(run, "statistics are over %u rank%s, each the sum of its threads", g->count, g->count == 1 ? "" : "s");
    else if (run->view->of_profiles && rows_filtered(run))
        run_note(run, "statistics are over %u %s%s, whatever `where` keeps", g->count,
                 per == PER_HOST ? "host" : "thread", g->count == 1 ? "" : "s");
    helpers_note(run, "statistics", metric_of_statistics(run), ranks && !others);
}

/* Returns the profiles that a statistic is over: all of its metrics are those of threads, or those of queues of
 * devices. */
static enum which_profiles profiles_of(const struct run *run, const struct statistic *s)
{
    size_t slots = 2 * run->selection.measures.len;
    AUTO_FREE uint8_t *used = xcalloc(slots + 1, 1);
    bool threads = false, queues = false;

    program_slots(s->arg, want_slot, used);
    for (size_t k = 0; k < slots; k++) {
        bool device = db_is_of_devices(run->tree->db, run->selection.measures.data[k / 2].metric);

        threads |= used[k] && !device;
        queues |= used[k] && device;
    }
    return !queues ? PROFILES_COUNTED : threads ? PROFILES_BOTH : PROFILES_QUEUES;
}

/* Those that are wanted, over the groups of b. */
static struct hq_error *compute_over(struct batch *b, struct entry **entries, size_t n, bool use_stored)
{
    struct run *run = b->run;
    size_t todo = 0, count = run->binding.statistics.len;
    bool keeps_values = false;
    struct hq_error *err = NULL;
    AUTO_FREE struct entry **list = xmalloc((n + 1) * sizeof *list);

    for (size_t i = 0; i < n; i++)
        if (!(use_stored && all_stored(run, entries[i], b->wanted)))
            list[todo++] = entries[i];
    b->slots = xcalloc(2 * run->selection.measures.len + 1, 1);
    b->values = xcalloc(2 * run->selection.measures.len + 1, sizeof *b->values);
    for (size_t s = 0; s < 2 * run->selection.measures.len; s++)
        b->values[s] = NAN;
    b->feeds = xcalloc(count, sizeof *b->feeds);
    for (size_t i = 0; i < count; i++)
        if (b->wanted[i] && run->binding.statistics.data[i].function != FUNCTION_CI && shared_with(run, i) == i)
            b->feeds[b->feed_count++] = i;
    for (size_t i = 0; i < count; i++) {
        if (b->wanted[i])
            program_slots(run->binding.statistics.data[i].arg, want_slot, b->slots);
        keeps_values = keeps_values || is_percentile(run->binding.statistics.data[i].function);
    }
    if (todo)
        err = compute(b, list, todo, keeps_values);
    free(b->slots);
    free(b->values);
    free(b->feeds);
    return err;
}

static struct hq_error *compute_of(struct run *run, struct entry **entries, size_t n, enum per per,
                                   enum which_profiles which, const bool *wanted)
{
    struct batch b = {.run = run, .wanted = wanted};
    const struct db *db = run->selection.tree.db;
    uint32_t metric = 0;

    while (metric < db->metric_count && db_is_of_devices(db, metric) != (which == PROFILES_QUEUES))
        metric++;
    profiles_group(&run->selection, per, which, &b.groups);
    note_groups(run, per, &b.groups);
    /* Stored statistics are over the profiles with a rank, if any has one: they hold where each profile is a group of
     * its own. */
    struct hq_error *err = compute_over(&b, entries, n,
                                        selection_is_plain(&run->selection) && which != PROFILES_BOTH &&
                                            b.groups.count == db_statistics_profiles(db, metric));

    profiles_group_deinit(&b.groups);
    return err;
}

struct hq_error *statistics_compute(struct run *run, struct entry **entries, size_t n)
{
    static const enum which_profiles kinds[] = {PROFILES_COUNTED, PROFILES_QUEUES, PROFILES_BOTH};
    size_t count = run->binding.statistics.len, blank = 0;
    /* Rows that are threads are held against what threads have. */
    enum per usual = run->view->of_profiles ? PER_THREAD : profiles_usual(&run->selection);
    enum per per = run->query->samples.per ? run->query->samples.per : usual;
    AUTO_FREE bool *wanted = xcalloc(count + 1, sizeof *wanted);
    AUTO_FREE struct entry **list = xmalloc((n + 1) * sizeof *list);
    struct hq_error *err = NULL;

    if (!count)
        return NULL;
    selection_find_helpers(&run->selection);
    for (size_t i = 0; i < n; i++) /* blank for rows that stand for several */
        if (!entries[i]->statistics && !entries[i]->folded)
            list[blank++] = entries[i];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && !err; k++) {
        bool any = false;

        for (size_t i = 0; i < count; i++)
            any |= wanted[i] = profiles_of(run, &run->binding.statistics.data[i]) == kinds[k];
        /* No profile has metrics of threads and of devices; a rank, or a host, has. */
        if (any && (kinds[k] != PROFILES_BOTH || per == PER_RANK || per == PER_HOST))
            err = compute_of(run, list, blank, per, kinds[k], wanted);
    }
    for (size_t i = 0; i < n && !err; i++)
        for (size_t k = 0; k < count; k++)
            if (run->binding.statistics.data[k].function == FUNCTION_CI && entries[i]->statistics)
                entries[i]->statistics[k] = interval_half_width(run, entries[i], run->binding.statistics.data[k].arg);
    return err;
}
