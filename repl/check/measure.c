/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of a query for `hq check`, of a run or the means of several, and which runs these are (run.h). */
#include "common/file.h"
#include "common/log.h"
#include "query/grammar/parse.h"
#include "repl/check/run.h"
#include "repl/baseline/row_paths.h"

#define LEAST      BASELINE_LEAST
#define LEAST_KEPT 0.0025 /* and that stays in one, so that a row on the edge does not come and go */

/* Has the row a cell of so much of its column's total? */
static bool is_large(const struct table *t, const struct row *row)
{
    for (size_t c = 0; c < t->columns.len; c++)
        if (t->columns.data[c].total > 0 && row->cells[c].number >= LEAST * t->columns.data[c].total)
            return true;
    return false;
}

/* Procedures of one name of several programs, as main of a shell and of what it starts, have one row in a baseline. */
static const char *tell_summed(struct arena *arena, const struct table *t)
{
    vec_foreach(a, &t->rows) {
        if (a->depth || !a->key || !a->module || !is_large(t, a))
            continue;
        for (struct row *b = a + 1; b < t->rows.data + t->rows.len; b++)
            if (b->depth == 0 && b->key && b->module && !strcmp(a->key, b->key) && strcmp(a->module, b->module) &&
                is_large(t, b))
                return arena_printf(arena, "%s is of %s and of %s, and its value is the sum of both", a->key,
                                    file_basename(a->module), file_basename(b->module));
    }
    return NULL;
}

/*
 * All rows that the query means, with their intervals. A limit would make rows come and go, and so would a filter that
 * they cross: those that `where` leaves out are measured too, and marked.
 */
static struct hq_error *measure_part(struct runner *r, const struct statement *st, bool only_system,
                                     struct baseline *into, struct baseline_query *q, double least)
{
    struct table *t = NULL;

    r->session.env.only_system = only_system;
    struct hq_error *error = gate_measure(&r->session.env, st, &t);

    r->session.env.only_system = false;
    HQ_TRY(error);
    if (t)
        baseline_measure(into, q, t, least);
    if (t && !q->summed)
        q->summed = tell_summed(&into->arena, t);
    if (t && t->unknown && !q->unknown)
        q->unknown = arena_strdup(&into->arena, t->unknown);
    table_destroy(t);
    return NULL;
}

/* The groups by runtime of the samples that a statement chooses. */
static struct hq_error *measure_groups(struct runner *r, const struct statement *st, struct baseline *into,
                                       struct baseline_query *groups)
{
    static const char text[] = "groups by runtime";
    struct source source = {.name = "baseline", .text = text, .length = sizeof text - 1};
    struct script *script;
    struct hq_error *error = parse_script(&source, NULL, &script);

    if (!error) {
        struct statement all = script->statements.data[0];

        all.query.samples = st->query.samples;
        error = measure_part(r, &all, false, into, groups, 0);
    }
    script_destroy(script);
    return error;
}

/* One run. `computes`: what computes apart from what is in the system. */
static struct hq_error *measure(struct runner *r, const struct statement *st, bool computes, struct baseline *into,
                                struct baseline_query *q)
{
    struct baseline_query system = {0}, groups = {0};
    double least = r->runs.len > 1 ? 0 : r->update ? LEAST_KEPT : LEAST;
    struct hq_error *error = measure_part(r, st, false, into, q, computes ? 0 : least);

    if (computes && !error)
        error = measure_part(r, st, true, into, &system, 0);
    if (computes && !error)
        error = measure_groups(r, st, into, &groups);
    if (computes && !error)
        baseline_split(&into->arena, q, &system, &groups, least);
    vec_deinit(&system.values);
    vec_deinit(&groups.values);
    return error;
}

/* A run that was disturbed, or is of something else, makes a set tell that runs differ by as much. */
static const char *tell_odd(const struct runner *r, const struct baseline_query *means,
                            const struct baseline_query *const *runs, struct arena *arena)
{
    AUTO(row_paths_deinit) struct row_paths paths = {.setting = query_setting(&r->session.env, SETTING_NAMES)};
    struct baseline_odd o;

    if (!baseline_odd_run(means, runs, r->runs.len, &o))
        return NULL;
    row_paths_add(&paths, o.row->path);
    return arena_printf(
        arena,
        "one run is far from the others: %s has %.1f%% of %s in %s, where these have %.1f%% to %.1f%%. Leave "
        "it out, or record again, if something disturbed it",
        r->runs.data[o.run], 100 * o.share, o.row->metric, row_paths_text(&paths, arena, o.row->path, false),
        100 * o.least, 100 * o.most);
}

struct hq_error *check_measure_runs(struct runner *r, const struct statement *st, bool computes, struct baseline *into,
                                    const char *text)
{
    size_t n = r->runs.len;
    struct baseline_query *q;
    struct hq_error *error = NULL;

    if (n == 1)
        return measure(r, st, computes, into, baseline_add(into, text));
    struct baseline_query *runs = xcalloc(n, sizeof *runs);
    const struct baseline_query **list = xcalloc(n, sizeof *list);

    for (size_t i = 0; i < n && !error; i++) {
        list[i] = &runs[i];
        error = session_open(&r->session, r->runs.data[i], NULL);
        if (!error)
            error = measure(r, st, computes, into, &runs[i]);
    }
    if (!error)
        error = session_open(&r->session, r->db, NULL);
    q = baseline_add(into, text);
    if (!error)
        baseline_average(q, list, n, r->update ? LEAST_KEPT : LEAST);
    q->computes = computes;
    for (size_t i = 0; i < n; i++) {
        q->system += runs[i].system / (double)n;
        q->unknown = q->unknown ? q->unknown : runs[i].unknown;
    }
    q->summed = runs[0].summed;
    if (!error)
        q->odd = tell_odd(r, q, list, &into->arena);
    for (size_t i = 0; i < n; i++)
        vec_deinit(&runs[i].values);
    free(runs);
    free(list);
    return error;
}

struct hq_error *check_measure(struct runner *r, const struct statement *st, struct baseline *into, const char *text)
{
    return check_measure_runs(r, st, false, into, text);
}

struct hq_error *check_measure_as_before(struct runner *r, const struct statement *st,
                                         const struct baseline_query *before, struct baseline *now, const char *text)
{
    struct query_env *env = &r->session.env;
    AUTO(arena_deinit) struct arena arena = {0};
    baseline_settings mine = {0}, others = {0};
    bool knows = db_knows_linkage(env->db);

    baseline_settings_now(env, NULL, &arena, &mine);
    struct hq_error *error = baseline_settings_apply(r->before.settings.data, r->before.settings.len, env);

    if (!error)
        error = baseline_settings_apply(before->settings.data, before->settings.len, env);
    baseline_settings_now(env, &(struct baseline){.settings = mine}, &arena, &others);
    vec_foreach(s, &others)
        log_note("%s:%u: compared under `%s`, as its baseline was written", r->file, st->place.line, *s);
    if (!error)
        error = check_measure_runs(r, st, before->computes, now, text);
    hq_error_free(baseline_settings_apply(mine.data, mine.len, env));
    vec_deinit(&mine);
    vec_deinit(&others);
    if (r->before.by_source && knows)
        baseline_fold(now);
    if (!r->before.by_source && !knows) {
        log_note("%s: only the baseline has names for the linker: procedures are told apart by those of the source",
                 r->file);
        baseline_fold(&r->before);
    }
    struct baseline_query *old = baseline_find(&r->before, text);

    if (old && !error)
        baseline_match_loops(old, &r->before.arena, &now->queries.data[0], &now->arena);
    return error;
}

/* ---- the runs ---- */

/* The runs of a set, or of one side of a race, each; any other database is one run. */
static struct hq_error *add_runs(struct runner *r, const char *path)
{
    struct run_set set;
    enum run_side side;

    HQ_TRY(run_set_of(path, &set, &side));
    vec_push(&r->sets, set);
    if (!set.directory)
        vec_push(&r->runs, path);
    for (size_t i = 0; set.directory && i < run_set_count(&set, side); i++)
        vec_push(&r->runs, run_set_path(&set, side, i));
    return NULL;
}

/* A run that counts twice would tell that runs do not differ. */
static struct hq_error *all_differ(const struct runner *r)
{
    for (size_t i = 0; i < r->runs.len; i++)
        for (size_t k = 0; k < i; k++)
            if (file_is_same(r->runs.data[i], r->runs.data[k]))
                return hq_error_new(HQ_USAGE, "%s is given twice; each run counts once", r->runs.data[i]);
    return NULL;
}

struct hq_error *check_find_runs(struct runner *r)
{
    if (run_set_is(r->db))
        HQ_TRY(run_set_read(r->db, &r->set));
    HQ_TRY(add_runs(r, r->db));
    for (size_t i = 0; i < opt_count(r->args, "run"); i++)
        HQ_TRY(add_runs(r, opt_value_at(r->args, "run", i)));
    return all_differ(r);
}
