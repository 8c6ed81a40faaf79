/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows that are profiles. `threads of PATTERN`: the value of the matching scopes in each; `profiles`: what the database
 * holds. With `per rank` or `per host` a row is all profiles of one.
 */
#include "query/choose/profiles.h"
#include "query/views/views.h"
#include <math.h>

struct work {
    struct run *run;
    struct groups_of_profiles groups;
    struct node target; /* what is measured in each profile */
    struct ranges ranges[2];
    double **slots; /* [group][2 * measures] */
    bool *asked;    /* [measures] by columns and conditions; what orders the rows may be another */
    bool several;   /* processes, which names tell apart */
};

/* Of the whole database, whatever is chosen: a row has one name in all slices. */
static bool has_several(const struct db *db)
{
    for (size_t i = 0; i < db->profile_count; i++) {
        const struct hqdb_profile *p = &db->profiles[i];

        if (p->rank >= 0 || p->pid != db->profiles[0].pid || p->host != db->profiles[0].host)
            return true;
    }
    return false;
}

static const char *group_name(const struct work *w, uint32_t first)
{
    const struct db *db = w->run->tree->db;
    const struct hqdb_profile *p = &db->profiles[first];
    struct arena *arena = &w->run->arena;

    if (w->run->query->samples.per == PER_HOST)
        return db_string(db, p->host);
    if (w->run->query->samples.per == PER_RANK && p->rank >= 0)
        return arena_printf(arena, "rank %d", p->rank);

    const char *what = db_is_queue(db, first) ? "queue" : "thread";
    uint32_t number = p->thread & ~HQDB_QUEUE;

    if (p->rank >= 0)
        return arena_printf(arena, "rank %d %s %u", p->rank, what, number);
    if (w->several && p->pid)
        return arena_printf(arena, "process %u %s %u", p->pid, what, number);
    return arena_printf(arena, "%s %u", what, number);
}

static const char *process_text(const struct work *w, uint32_t first)
{
    const struct db *db = w->run->tree->db;
    const struct hqdb_profile *p = &db->profiles[first];
    const char *host = db_string(db, p->host), *command = path_base(db_string(db, p->command));
    AUTO_STR struct str text = {0};

    /* Facts that other tools do not record are left out. */
    str_add(&text, host);
    if (p->pid)
        str_addf(&text, "%spid %u", text.len ? ", " : "", p->pid);
    if (*command)
        str_addf(&text, "%s%s", text.len ? ", " : "", command);
    if (w->run->selection.helpers.of && w->run->selection.helpers.of[first])
        str_addf(&text, "%s%s", text.len ? ", " : "",
                 w->run->selection.helpers.of[first] == STANDS_LAUNCHER ? "launcher" : "helper");
    return arena_strdup(&w->run->arena, str_cstr(&text));
}

static uint64_t covered(const struct ranges *ranges)
{
    uint64_t n = 0;

    vec_foreach(r, ranges)
        n += r->last - r->first;
    return n;
}

/* Elapsed time of launchers and helpers is in no total. What the database holds is shown as it is. */
static bool counts(const struct work *w, uint32_t profile, uint32_t metric)
{
    return w->run->view->of_wholes || selection_counts(&w->run->selection, false, profile, metric);
}

/* Few frames: their values in all profiles, frame by frame. */
static void by_frame(struct work *w, size_t measure, int x, int64_t *sums)
{
    const struct measure *m = &w->run->selection.measures.data[measure];

    vec_foreach(r, &w->ranges[x]) {
        struct db_values v = db_frame_values(w->run->tree->db, *r, m->metric);
        struct db_value value;

        while (db_value_next(&v, &value))
            if (value.profile < w->groups.profile_count && w->groups.of[value.profile] != HQDB_NONE &&
                counts(w, value.profile, m->metric))
                sum_add(&sums[w->groups.of[value.profile]], value.sum);
    }
}

/* Everything: the totals that the database keeps for each profile. */
static bool by_total(struct work *w, size_t measure)
{
    const struct measure *m = &w->run->selection.measures.data[measure];
    bool all = w->ranges[0].len == 1 && w->ranges[1].len == 1 &&
               covered(&w->ranges[0]) == w->run->tree->position_count &&
               covered(&w->ranges[1]) == w->run->tree->position_count;

    if (!all || w->run->selection.sliced || w->run->selection.keep)
        return false;
    for (uint32_t g = 0; g < w->groups.count; g++) {
        int64_t sum = 0;

        for (uint32_t i = w->groups.start[g]; i < w->groups.start[g + 1]; i++)
            if (counts(w, w->groups.profiles[i], m->metric))
                sum_add(&sum, db_profile_total(w->run->tree->db, w->groups.profiles[i], m->metric).sum);
        w->slots[g][2 * measure] = w->slots[g][2 * measure + 1] = (double)sum * m->scale;
    }
    return true;
}

static struct hq_error *measure_groups(struct work *w, size_t measure)
{
    struct run *run = w->run;
    const struct measure *m = &run->selection.measures.data[measure];
    size_t n = run->tree->position_count;
    bool few = profiles_by_frame(&run->selection) && covered(&w->ranges[0]) + covered(&w->ranges[1]) < n / 2;
    AUTO_FREE int64_t *prefix = NULL;
    AUTO_FREE int64_t *sums = NULL;

    if (by_total(w, measure))
        return NULL;
    prefix = xcalloc(n + 1, sizeof *prefix);
    sums = xcalloc(w->groups.count + 1, sizeof *sums);

    for (int x = 0; x < 2 && few; x++) {
        memset(sums, 0, w->groups.count * sizeof *sums);
        by_frame(w, measure, x, sums);
        for (uint32_t g = 0; g < w->groups.count; g++)
            w->slots[g][2 * measure + (size_t)x] = scaled_value(sums[g], m->scale);
    }
    for (uint32_t g = 0; g < w->groups.count && !few; g++) {
        if (run_interrupted(run))
            return NULL;
        HQ_TRY(profiles_prefix(&run->selection, &w->groups, g, m->metric, prefix));
        for (int x = 0; x < 2; x++)
            w->slots[g][2 * measure + (size_t)x] = scaled_value(ranges_sum(&w->ranges[x], prefix), m->scale);
    }
    return NULL;
}

/* A row none of whose profiles counts has no value, not one of 0. */
static void blank_uncounted(struct work *w, size_t measure)
{
    for (uint32_t g = 0; g < w->groups.count; g++) {
        bool any = false;

        for (uint32_t i = w->groups.start[g]; i < w->groups.start[g + 1] && !any; i++)
            any = counts(w, w->groups.profiles[i], w->run->selection.measures.data[measure].metric);
        if (!any)
            w->slots[g][2 * measure] = w->slots[g][2 * measure + 1] = NAN;
    }
}

static struct hq_error *measure_all(struct work *w)
{
    struct run *run = w->run;
    size_t slots = 2 * run->selection.measures.len;

    w->slots = ARENA_ARRAY(&run->arena, w->groups.count, double *);
    for (uint32_t g = 0; g < w->groups.count; g++) {
        w->slots[g] = ARENA_ARRAY(&run->arena, slots, double);
        for (size_t s = 0; s < slots; s++)
            w->slots[g][s] = NAN;
    }
    for (size_t m = 0; m < run->selection.measures.len; m++)
        if (run->binding.used[m]) {
            HQ_TRY(measure_groups(w, m));
            blank_uncounted(w, m);
        }
    return NULL;
}

/* A launcher or helper that has nothing of what was asked for is no row: a rank without it is one. */
static bool is_beside(const struct work *w, uint32_t first, const double *slots)
{
    const struct run *run = w->run;
    size_t looked = 0;

    if (!run->selection.helpers.of || run->selection.helpers.of[first] == STANDS_IN || run->view->of_wholes ||
        !(run->query->view.of || run->selection.helpers.elapsed))
        return false;
    for (size_t m = 0; m < run->selection.measures.len; m++) {
        if (!w->asked[m])
            continue;
        looked++;
        if ((slots[2 * m] != 0 && !isnan(slots[2 * m])) || (slots[2 * m + 1] != 0 && !isnan(slots[2 * m + 1])))
            return false;
    }
    return looked > 0;
}

static void ask(void *asked, unsigned slot)
{
    ((bool *)asked)[slot / 2] = true;
}

static void find_asked(struct work *w)
{
    const struct run *run = w->run;

    w->asked = ARENA_ARRAY(&w->run->arena, run->selection.measures.len + 1, bool);
    vec_foreach(p, &run->columns)
        program_slots(*p, ask, w->asked);
    vec_foreach(p, &run->where)
        program_slots(*p, ask, w->asked);
    vec_foreach(p, &run->expect)
        if (*p)
            program_slots(*p, ask, w->asked);
}

static struct hq_error *rows_of_profiles(struct run *run, const struct node *target, struct nodes *out)
{
    struct work w = {.run = run, .target = *target, .several = has_several(run->tree->db)};
    struct hq_error *err;

    selection_find_helpers(&run->selection);
    profiles_group(&run->selection, run->query->samples.per ? run->query->samples.per : PER_THREAD,
                   run->view->of_wholes ? PROFILES_ALL : PROFILES_VALUED, &w.groups);
    node_ranges(run->tree, target, false, &w.ranges[0]);
    node_ranges(run->tree, target, true, &w.ranges[1]);
    find_asked(&w);
    err = measure_all(&w);
    for (uint32_t g = 0; g < w.groups.count && !err; g++) {
        uint32_t first = w.groups.profiles[w.groups.start[g]];
        struct node n = *target;

        if (is_beside(&w, first, w.slots[g]))
            continue;
        n.kind = SCOPE_THREAD;
        n.scope = n.context = HQDB_NONE;
        n.profile = first;
        n.name = group_name(&w, first);
        n.text = run->query->samples.per <= PER_THREAD ? process_text(&w, first) : NULL; /* of one process */
        n.slots = w.slots[g];
        n.leaf = true;
        n.aside = helpers_aside(&run->selection.helpers, first);
        n.id = 0;
        vec_push(out, n);
    }
    profiles_group_deinit(&w.groups);
    vec_deinit(&w.ranges[0]);
    vec_deinit(&w.ranges[1]);
    return err;
}

static struct node whole_program(struct run *run)
{
    uint32_t *top = ARENA_NEW(&run->arena, uint32_t);
    struct node n = node_of_set(run->tree, 0, (struct set){top, 1});

    n.rule = EXCLUSIVE_ALL;
    return n;
}

static struct hq_error *threads_roots(struct run *run, struct nodes *out)
{
    struct node target;
    size_t count;

    if (!run->query->view.of) {
        target = whole_program(run);
        return rows_of_profiles(run, &target, out);
    }
    if (matches_nothing(&run->of))
        return NULL;
    AUTO_FREE uint32_t *contexts = matches_contexts(&run->of, run->tree, &count);

    target = node_of_set(run->tree, 0, set_sorted(contexts, count, &run->arena));
    return rows_of_profiles(run, &target, out);
}

static struct hq_error *profiles_roots(struct run *run, struct nodes *out)
{
    struct node target = whole_program(run);

    return rows_of_profiles(run, &target, out);
}

const struct view_row view_threads = {.shape = SHAPE_LIST,
                                      .of_kinds = KINDS_PATH,
                                      .row_kinds = KIND_BIT(SCOPE_THREAD),
                                      .of_profiles = true,
                                      .beside = "process",
                                      .roots = threads_roots};
const struct view_row view_profiles = {.shape = SHAPE_LIST,
                                       .row_kinds = KIND_BIT(SCOPE_THREAD),
                                       .of_profiles = true,
                                       .of_wholes = true,
                                       .beside = "process",
                                       .in_order = true,
                                       .roots = profiles_roots};
