/* SPDX-License-Identifier: BSD-3-Clause */
/* Baselines in `hq check`: the values of a query against those that were written before. */
#include "common/clock.h"
#include "common/log.h"
#include "common/names.h"
#include "common/str.h"
#include "query/grammar/parse.h"
#include "repl/check/run.h"
#include "repl/baseline/row_paths.h"
#include <string.h>

#define LEAST BASELINE_LEAST

static struct hq_error *measure_text(struct runner *r, const char *text, const struct baseline_query *before,
                                     bool computes, struct baseline *now);

/* baseline_system of the run; 0 also where nobody knows. */
static double system_now(struct runner *r)
{
    AUTO(baseline_deinit) struct baseline groups = {0};

    hq_error_free(measure_text(r, "groups by runtime", NULL, false, &groups));
    return groups.queries.len ? baseline_system(&groups.queries.data[0]) : 0;
}

void check_begin_baseline(struct runner *r)
{
    const struct query_env *env = &r->session.env;

    baseline_settings_now(env, NULL, &r->after.arena, &r->after.settings);
    r->after.by_source = !db_knows_linkage(env->db);
    r->after.clock = baseline_clock(env->db, &r->after.arena);
    r->after.machine = baseline_machine(env->db, &r->after.arena);
    r->after.ranks = baseline_ranks(env->db);
    if (r->update)
        r->after.system = system_now(r);
    if (r->update && r->after.by_source && !r->before.by_source)
        baseline_fold(&r->before);
}

/* A procedure without a name is called by its address, which is another in the next build. */
static void tell_addresses(const struct runner *r, const struct statement *st, const struct baseline_query *q)
{
    size_t n = 0;

    vec_foreach(v, &q->values)
        n += name_is_address(v->path);
    if (n)
        log_warn("%s:%u: %zu of %zu values are of procedures without names (a stripped program or library), whose "
                 "addresses change with each build; record them with symbols",
                 r->file, st->place.line, n, q->values.len);
}

static struct hq_error *update_baseline(struct runner *r, const struct statement *st, const char *text)
{
    HQ_TRY(check_measure_runs(r, st, r->after.system >= BASELINE_SYSTEM, &r->after, text));
    struct baseline_query *q = &vec_last(&r->after.queries);
    double most;
    size_t n;

    bool by_source = r->before.by_source && !r->after.by_source;

    q->elsewhere = baseline_elsewhere(r->after.machine, r->before.machine);
    baseline_settings_now(&r->session.env, &r->after, &r->after.arena, &q->settings);
    baseline_renew(q, r->keep_tolerance ? baseline_find(&r->before, text) : NULL, by_source, r->tolerance, LEAST);
    if (!q->values.len) {
        log_warn("%s:%u: the run has no row of %.2g %% or more of this query, so it gets no baseline", r->file,
                 st->place.line, 100 * LEAST);
        vec_deinit(&q->values);
        vec_deinit(&q->settings);
        r->after.queries.len--;
    } else {
        log_note("%s:%u: %zu values", r->file, st->place.line, q->values.len);
        if (q->odd)
            log_warn("%s:%u: %s", r->file, st->place.line, q->odd);
        if (q->summed)
            log_warn("%s:%u: %s", r->file, st->place.line, q->summed);
        if ((n = baseline_wider(q, &most)))
            log_note(
                "%s:%u: %zu of them have a wider tolerance, up to %.3g points, for they are in the system, or wait "
                "in MPI or OpenMP, for longer in one hour than in another; hq race finds smaller rises",
                r->file, st->place.line, n, 100 * most);
        if (q->computes)
            log_note(
                "%s:%u: %.0f%% of the time is in the system, or waits in MPI or OpenMP (cputime.system); the other "
                "shares are of what computes",
                r->file, st->place.line, 100 * q->system);
        if ((n = baseline_scattered(q, &most)))
            log_note("%s:%u: %zu of them are counts that differ from run to run, and have a tolerance of up to %.3g%%",
                     r->file, st->place.line, n, 100 * most);
        tell_addresses(r, st, q);
    }
    return NULL;
}

/* ---- metrics ---- */

typedef VEC(const char *) metric_list; /* without those of the scopes alone, cputime.x */

static bool has_metric(const metric_list *list, const char *metric)
{
    size_t n = baseline_metric_length(metric);

    vec_foreach(name, list)
        if (!strncmp(*name, metric, n) && !(*name)[n])
            return true;
    return false;
}

static metric_list metrics_of(const struct baseline_query *q, struct arena *arena)
{
    metric_list list = {0};

    vec_foreach(v, &q->values)
        if (!has_metric(&list, v->metric) && !baseline_is_system(v->metric))
            vec_push(&list, arena_strndup(arena, v->metric, baseline_metric_length(v->metric)));
    return list;
}

static const char *join_metrics(struct arena *arena, const metric_list *list)
{
    const char *names = "";

    vec_foreach(name, list)
        names = *names ? arena_printf(arena, "%s, %s", names, *name) : *name;
    return names;
}

/* The metrics that one list has and another has not; one that a database measured may have come to nothing there. */
static metric_list others_of(const metric_list *one, const metric_list *list, const struct db *db)
{
    metric_list others = {0};

    vec_foreach(name, one) {
        bool known = has_metric(list, *name);

        for (size_t i = 0; db && i < db->metric_count; i++)
            known |= !strcmp(db_string(db, db->metrics[i].name), *name);
        if (!known)
            vec_push(&others, *name);
    }
    return others;
}

/*
 * Metrics that only one side has. A run of other events cannot be compared with: everything would be new. What a run
 * has measured besides nobody judges, and it takes time to measure; what it has not measured may be anything.
 */
struct others {
    metric_list old, now, missing, more;
    bool all; /* there is nothing that both have */
};

static struct others compare_metrics(const struct runner *r, const struct baseline_query *before,
                                     const struct baseline_query *now, struct arena *arena)
{
    struct others o = {.old = metrics_of(before, arena), .now = metrics_of(now, arena)};

    o.more = others_of(&o.now, &o.old, NULL);
    o.missing = others_of(&o.old, &o.now, r->session.env.db);
    o.all = o.old.len && o.now.len && o.more.len == o.now.len;
    return o;
}

static void others_deinit(struct others *o)
{
    vec_deinit(&o->old);
    vec_deinit(&o->now);
    vec_deinit(&o->missing);
    vec_deinit(&o->more);
}

static void tell_metrics(const struct others *o, struct arena *arena, struct check_lines *lines,
                         enum check_outcome *outcome)
{
    if ((o->more.len || o->missing.len) && *outcome == CHECK_PASS)
        *outcome = CHECK_INCONCLUSIVE;
    if (o->missing.len)
        vec_push(lines, arena_printf(arena,
                                     "the baseline has %s, which this run did not measure: record the same events, or "
                                     "write the baseline again with hq check --update",
                                     join_metrics(arena, &o->missing)));
    if (o->more.len)
        vec_push(lines, arena_printf(arena,
                                     "this run has %s and the baseline has not: nobody judges that, and what measuring "
                                     "it takes is in the other values (record the same events, or hq check --update)",
                                     join_metrics(arena, &o->more)));
}

/* The values of this run for a query that is only known by its text; with `before` as that was asked. */
static struct hq_error *measure_text(struct runner *r, const char *text, const struct baseline_query *before,
                                     bool computes, struct baseline *now)
{
    struct source source = {.name = "baseline", .text = text, .length = strlen(text)};
    struct script *script;
    struct hq_error *error = parse_script(&source, NULL, &script);

    if (!error && script->statements.len == 1)
        error = before ? check_measure_as_before(r, &script->statements.data[0], before, now, text)
                       : check_measure_runs(r, &script->statements.data[0], computes, now, text);
    script_destroy(script);
    return error;
}

/*
 * Where a rise comes from, by the call paths that the baseline has of any query; without those where the row is now.
 * That it cannot be said is no error.
 */
static void explain(struct runner *r, const struct baseline_query *before, const struct baseline_query *now,
                    const struct baseline_value *failed, struct arena *arena, struct check_lines *lines)
{
    AUTO(baseline_deinit) struct baseline other = {0};
    const struct baseline_query *paths = NULL;

    vec_foreach(q, &r->before.queries)
        if (baseline_has_paths(q) && (!paths || q == before))
            paths = q;
    struct hq_error *error = paths == before
                                 ? NULL
                                 : measure_text(r, paths ? paths->text : "tree", paths, before->computes, &other);

    if (!error && (paths == before || other.queries.len))
        baseline_explain(paths, paths == before ? now : &other.queries.data[0], failed, now->names, arena, lines);
    hq_error_free(error);
}

/* Timers count what waits for the kernel's tick too often: what differs may be that. */
static void tell_clock(const struct runner *r, const struct baseline_query *now, struct arena *arena,
                       struct check_lines *lines)
{
    const char *here = baseline_clock(r->session.env.db, arena), *there = r->before.clock;
    bool sampled = false;

    vec_foreach(v, &now->values)
        sampled |= str_begins(v->metric, "cputime");
    if (sampled && here && there && strcmp(here, there))
        vec_push(lines,
                 arena_printf(arena,
                              "CPUTIME was sampled by %s in this run and by %s in the baseline's: what differs may be "
                              "due to that (hq record --clock=perf or timer, or write the baseline again)",
                              here, there));
}

/* Shares depend on the processor, and a rise that may be due to another one fails nothing. */
static void tell_machine(const struct runner *r, enum baseline_elsewhere elsewhere, struct arena *arena,
                         struct check_lines *lines)
{
    const char *here = baseline_machine(r->session.env.db, arena), *there = r->before.machine;

    if (elsewhere == MACHINE_UNKNOWN)
        vec_push(lines, arena_printf(arena, "of which machine %s nobody knows: what differs may be due to that%s",
                                     here ? "the baseline is" : "this run is", here ? " (hq check --update)" : ""));
    else if (elsewhere != MACHINE_SAME)
        vec_push(lines,
                 arena_printf(arena,
                              "this run is of another machine, %s, than the baseline, %s: what differs may be due "
                              "to that%s%s",
                              here, there,
                              elsewhere == MACHINE_KERNEL      ? ""
                              : elsewhere == MACHINE_PROCESSOR ? ", and a share that rose is no failure"
                                                               : ", and what rose is no failure",
                              elsewhere == MACHINE_KERNEL ? "" : " (record the baseline where it is checked)"));
}

/* More ranks do more, or each of them less. */
static void tell_ranks(const struct runner *r, struct arena *arena, struct check_lines *lines)
{
    vec_push(lines, arena_printf(arena,
                                 "this run has %u rank%s of MPI, and the baseline %u: what differs may be due to that, "
                                 "and what rose is no failure (hq check --update)",
                                 r->after.ranks, r->after.ranks == 1 ? "" : "s", r->before.ranks));
}

/* A query that was added, or changed, since the baseline was written: whatever its rows have come to, nobody knows. */
static struct hq_error *tell_unwritten(struct runner *r, const struct statement *st, const char *text)
{
    AUTO(arena_deinit) struct arena arena = {0};
    AUTO(baseline_deinit) struct baseline now = {0};
    double start = clock_seconds();

    HQ_TRY(check_measure(r, st, &now, text));
    if (!now.queries.data[0].values.len)
        return NULL;
    struct check *c = check_new(r, CHECK_INCONCLUSIVE, arena_printf(&arena, "baseline of %s", text), st->place.line);

    check_add_line(r, c, "the baseline has no values of this query; hq check --update writes them");
    check_finish(r, start);
    return NULL;
}

struct hq_error *check_baseline(struct runner *r, const struct statement *st)
{
    AUTO(arena_deinit) struct arena arena = {0};
    const char *text = gate_query_text(&arena, st);
    struct baseline_query *before = baseline_find(&r->before, text);
    AUTO(baseline_deinit) struct baseline now = {0};
    double start = clock_seconds();

    if (!gate_compares(st) || (r->update && baseline_find(&r->after, text)))
        return NULL;
    if (r->update)
        return update_baseline(r, st, text);
    if (!before && !st->query.expect.len && !r->before.queries.len && !r->history)
        log_warn("%s:%u: nothing is judged by this query: it has no `expect`, and its file no baseline (hq check "
                 "--update writes one)",
                 r->file, st->place.line);
    if (!before)
        return r->before.queries.len && !st->query.expect.len ? tell_unwritten(r, st, text) : NULL;
    before->asked = true;
    HQ_TRY(check_measure_as_before(r, st, before, &now, text));
    AUTO(others_deinit) struct others others = compare_metrics(r, before, &now.queries.data[0], &arena);

    if (others.all)
        return hq_error_new(HQ_USAGE,
                            "the baseline holds %s, and this run has %s; record the same events, or write the "
                            "baseline again with hq check --update",
                            join_metrics(&arena, &others.old), join_metrics(&arena, &others.now));
    struct check_lines lines = {0};
    double alpha = baseline_alpha(&r->before, &now.queries.data[0]);
    const struct baseline_value *failed;

    enum baseline_elsewhere elsewhere = baseline_elsewhere(baseline_machine(r->session.env.db, &arena),
                                                           r->before.machine);

    bool other_ranks = r->before.ranks && r->after.ranks && r->before.ranks != r->after.ranks;

    now.queries.data[0].elsewhere = other_ranks ? MACHINE_COUNT : elsewhere;
    now.queries.data[0].system_before = r->before.system;
    now.queries.data[0].names = query_setting(&r->session.env, SETTING_NAMES);
    enum check_outcome outcome = baseline_judge(before, &now.queries.data[0], alpha, &arena, &lines, &failed);

    /* It would pass because nothing has that name. */
    const char *unknown = outcome == CHECK_PASS ? now.queries.data[0].unknown : NULL;

    outcome = unknown ? CHECK_INCONCLUSIVE : outcome;
    if (failed)
        explain(r, before, &now.queries.data[0], failed, &arena, &lines);
    if (outcome != CHECK_PASS && now.queries.data[0].odd)
        vec_push(&lines, now.queries.data[0].odd);
    if (now.queries.data[0].summed)
        vec_push(&lines, now.queries.data[0].summed);
    tell_clock(r, &now.queries.data[0], &arena, &lines);
    tell_machine(r, elsewhere, &arena, &lines);
    if (other_ranks)
        tell_ranks(r, &arena, &lines);
    loop_rows_tell(&before->loops, &arena, &lines);
    tell_metrics(&others, &arena, &lines, &outcome);
    struct check *c = check_new(r, outcome, arena_printf(&arena, "baseline of %s", text), st->place.line);

    if (unknown)
        check_add_line(r, c, unknown);
    vec_foreach(line, &lines)
        check_add_line(r, c, *line);
    vec_deinit(&lines);
    check_finish(r, start);
    return NULL;
}

/* A query that was changed has left its values behind. */
void check_tell_unasked(const struct runner *r, const char *path)
{
    vec_foreach(q, &r->before.queries)
        if (!q->asked)
            log_warn("%s: %s does not ask `%s`; hq check --update forgets it", path, r->file, q->text);
}

/* Exact values need no second run. */
static bool is_of_one_run(const struct baseline *b)
{
    vec_foreach(q, &b->queries)
        vec_foreach(v, &q->values)
            if (!v->absolute && v->runs < 2)
                return true;
    return false;
}

struct hq_error *check_write_baseline(struct runner *r, const char *path)
{
    if (!r->update || !r->after.queries.len)
        return NULL;
    HQ_TRY(baseline_write(path, &r->after));
    log_note("%s: %zu values of %zu quer%s", path, baseline_size(&r->after), r->after.queries.len,
             r->after.queries.len == 1 ? "y" : "ies");
    if (is_of_one_run(&r->after))
        log_warn("%s is of one run and knows nothing of how runs differ; make it of several: hq record --runs 5 -o SET",
                 path);
    return NULL;
}
