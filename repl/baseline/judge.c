/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a value larger than its baseline, or may it be chance (baseline.h)? */
#include "repl/baseline/judge_impl.h"
#include "common/names.h"
#include "repl/gate/judge.h"
#include <math.h>

void judge_comes_to(struct judge *j, enum check_outcome outcome)
{
    if (outcome == CHECK_FAIL || (outcome == CHECK_INCONCLUSIVE && j->outcome == CHECK_PASS))
        j->outcome = outcome;
}

/* ---- a rise ---- */

static const char *amount(struct judge *j, const struct baseline_value *v)
{
    char text[UNITS_TEXT];

    return v->absolute ? arena_strdup(j->arena, units_format_counted(text, v->value, v->dim))
                       : arena_printf(j->arena, "%.1f%%", 100 * v->share);
}

/* Returns what it was; of a row that the baseline has not, the most that it leaves out. */
static const char *amount_before(struct judge *j, const struct baseline_value *old)
{
    return arena_printf(j->arena, "%s%s", j->is_new ? "at most " : "", amount(j, old));
}

static const char *change_line(struct judge *j, const struct baseline_value *old, const struct baseline_value *now)
{
    return arena_printf(j->arena, "%s of %s: %s -> %s%s", now->metric,
                        row_paths_text(&j->paths, j->arena, now->path, false), amount_before(j, old), amount(j, now),
                        baseline_times(j->arena, old, now));
}

static void judge_open(struct judge *j, const struct baseline_value *old, const struct baseline_value *now,
                       const struct gate_difference *d)
{
    double bound = gate_bound(d, GATE_MISSED);
    unsigned n = baseline_runs(old) < baseline_runs(now) ? baseline_runs(old) : baseline_runs(now);
    const char *what = change_line(j, old, now);

    judge_comes_to(j, CHECK_INCONCLUSIVE);
    j->sampling |= baseline_sampling(old->share, old->samples, now->share, now->samples) > d->error;
    j->one_run |= baseline_runs(old) < 2 && baseline_runs(now) < 2;
    if (n > 1 && isfinite(bound))
        j->wanted = (size_t)fmax((double)j->wanted, (double)gate_runs_wanted(d, j->level, n));
    if (isfinite(bound))
        what = arena_printf(j->arena, "%s; a rise of up to %s is not ruled out, its tolerance is %.3g", what,
                            baseline_points(j->arena, old, old->absolute ? bound : fmin(bound, 1)),
                            baseline_percent(old, d->allowed));
    vec_push(&j->open, (struct told){what, isfinite(bound) ? bound / d->allowed : INFINITY});
}

/* Takes what is ruled out of a row that passed: of those with a wider tolerance, as time in the system has, apart. */
static void take_power(struct judge *j, const struct baseline_value *now, const struct gate_difference *d)
{
    double bound = gate_bound(d, GATE_MISSED), seen = gate_seen(d, j->level);

    if (d->allowed <= j->tolerance && !baseline_is_system(now->metric)) {
        j->least_sure = fmax(j->least_sure, bound);
        j->seen = fmax(j->seen, seen);
        return;
    }
    j->wide_seen = fmax(j->wide_seen, seen);
    if (bound > j->wide) {
        j->wide = bound;
        j->widest = arena_printf(j->arena, "%s of %s, tolerance %.3g", now->metric,
                                 row_paths_text(&j->paths, j->arena, now->path, false), 100 * d->allowed);
    }
}

/* How long calls wait for others depends on the hour. Beside what is counted or sampled it is told, and fails nothing.
 */
static bool is_told(struct judge *j, const struct baseline_value *now)
{
    if (j->waits || !baseline_waits(now->metric))
        return false;
    j->waited = arena_strndup(j->arena, now->metric, baseline_metric_length(now->metric));
    return true;
}

/* Would the rise be none, or chance, without what the machine may have made of it? */
static bool may_be_machine(const struct judge *j, const struct baseline_value *old, const struct baseline_value *now,
                           const struct gate_difference *d)
{
    struct gate_difference rest = *d;

    rest.rise -= baseline_by_machine(old, now);
    return rest.rise < d->rise && gate_judge(&rest, j->level, GATE_MISSED) != GATE_FAIL;
}

/* A rise that is none of chance: it fails, unless the machine, the hour or a change of places may be why. */
static void take_failed(struct judge *j, const struct baseline_value *old, const struct baseline_value *now,
                        const struct gate_difference *d, const char *line)
{
    double size = d->allowed > 0 ? d->rise / d->allowed : INFINITY;
    /* Another processor takes other times, and how many there are may change what is done. */
    bool excused = j->waits || j->elsewhere == MACHINE_COUNT || (j->elsewhere == MACHINE_PROCESSOR && !old->absolute);
    double hours = baseline_hours(now, j->system_before, j->system);
    bool by_hours = d->rise <= hours, by_machine = !by_hours && may_be_machine(j, old, now, d),
         changed_places = baseline_changed_places(j->before, j->now, old, now);

    j->by_hours = by_hours ? fmax(j->by_hours, hours) : j->by_hours;
    j->failed = !j->failed || size > j->most ? now : j->failed;
    j->most = fmax(j->most, size);
    j->by_machine |= by_machine;
    j->changed_places |= changed_places;
    judge_comes_to(j, excused || by_hours || by_machine || changed_places ? CHECK_INCONCLUSIVE : CHECK_FAIL);
    vec_push(&j->rose, (struct told){line, size});
}

/* How small a rise could have been seen, for the last line of the answer. */
static void take_resolution(struct judge *j, const struct baseline_value *old, const struct baseline_value *now,
                            const struct gate_difference *d, bool is_ok)
{
    if (old->absolute) {
        bool counted = is_ok && old->value > 0 && !gate_fell(d);

        if (counted && d->error > 0)
            j->scattered = fmax(j->scattered, gate_bound(d, GATE_MISSED) / old->value);
        else if (counted || (is_ok && old->value > 0 && d->error == 0))
            j->exact = fmax(j->exact, d->allowed / old->value);
        return;
    }
    j->one_run |= baseline_runs(old) < 2 && baseline_runs(now) < 2;
    j->one_side |= (baseline_runs(old) < 2) != (baseline_runs(now) < 2);
    if (is_ok && !gate_fell(d))
        take_power(j, now, d);
}

/* Tells a rise from noise; `kind` is how the line begins. */
static void judge_rise(struct judge *j, const struct baseline_value *old, const struct baseline_value *now,
                       const char *kind)
{
    struct gate_difference d = baseline_difference(old, now, j->scatter);
    enum gate_verdict verdict = gate_judge(&d, j->level, GATE_MISSED);
    const char *what = change_line(j, old, now), *rise = baseline_rise_text(j->arena, old, &d);

    if (is_told(j, now)) {
        if (verdict == GATE_FAIL)
            vec_push(&j->rest, (struct told){arena_printf(j->arena, "not judged: %s", what), d.rise / d.allowed});
        return;
    }
    if (verdict == GATE_FAIL)
        take_failed(j, old, now, &d,
                    j->is_new && old->absolute ? arena_printf(j->arena, "%s: %s", kind, what)
                                               : arena_printf(j->arena, "%s: %s, %s", kind, what, rise));
    else if (verdict == GATE_UNDECIDED)
        judge_open(j, old, now, &d);
    else if (-d.rise > d.allowed / 2 && gate_interval(&d) < -d.rise)
        vec_push(&j->rest, (struct told){arena_printf(j->arena, "fell: %s, %s", what, rise), -d.rise / d.allowed});
    if (verdict == GATE_OK && d.allowed > 0 && (!j->nearest || d.rise / d.allowed > j->near)) {
        j->near = d.rise / d.allowed;
        j->nearest = arena_printf(j->arena, "nearest to its tolerance: %s, %s", what, rise);
    }
    take_resolution(j, old, now, &d, verdict == GATE_OK);
}

/* ---- rows ---- */

/* The rows of a query, whatever their metrics. */
static void add_rows(const struct baseline_query *q, struct row_names *rows)
{
    vec_foreach(v, &q->values)
        row_names_add(rows, "", v->path, NULL);
}

static bool has_row(const struct row_names *rows, const char *path)
{
    return row_names_find(rows, "", path) != ROW_NAMES_NONE;
}

/* The row of the baseline that is gone and may be this one under its former name: the nearest that would not fail. */
static struct gone *former_name(struct judge *j, const struct baseline_value *now)
{
    struct gone *best = NULL;
    double least = INFINITY;

    vec_foreach(g, &j->gone) {
        const struct baseline_value *old = g->value;

        if (g->taken || !g->whole || strcmp(old->metric, now->metric) || old->absolute != now->absolute)
            continue;
        struct gate_difference d = baseline_difference(old, now, j->scatter);

        if (gate_judge(&d, j->level, GATE_MISSED) != GATE_FAIL && fabs(d.rise) < least) {
            least = fabs(d.rise);
            best = g;
        }
    }
    return best;
}

/* Judges a value that is not in the baseline: it was at most as large as what a baseline leaves out. What may be a row
 * that is gone, under another name, or what others had, is neither a rise nor none. */
static void judge_new(struct judge *j, const struct baseline_value *now)
{
    struct baseline_value least;

    if (is_told(j, now) || !baseline_least(j->before, now, &least) ||
        (now->absolute ? now->value <= least.value : now->share <= least.share))
        return;
    struct gate_difference d = baseline_difference(&least, now, j->scatter);
    bool fails = gate_judge(&d, j->level, GATE_MISSED) == GATE_FAIL;
    struct gone *former = fails && !has_row(&j->old_rows, now->path) ? former_name(j, now) : NULL;
    const char *row = row_paths_text(&j->paths, j->arena, now->path, false);
    double size = now->absolute ? now->value : now->share;

    if (!former && !(fails && baseline_moved(j->before, j->now, now))) {
        j->is_new = true;
        judge_rise(j, &least, now, "new");
        j->is_new = false;
        return;
    }
    judge_comes_to(j, CHECK_INCONCLUSIVE);
    if (!former) {
        vec_push(&j->moved,
                 (struct told){arena_printf(j->arena, "  %s of %s: %s", now->metric, row, amount(j, now)), size});
        return;
    }
    former->taken = true;
    j->nameless |= name_is_address(now->path) && !name_is_address(former->value->path);
    vec_push(&j->renamed, (struct told){arena_printf(j->arena, "  %s of %s (%s) is gone, %s (%s) is new", now->metric,
                                                     row_paths_text(&j->paths, j->arena, former->value->path, false),
                                                     amount(j, former->value), row, amount(j, now)),
                                        size});
}

/* ---- all of a query ---- */

/* Notes the rows of both sides, and what holds for all values. */
static void note_rows(struct judge *j)
{
    add_rows(j->before, &j->old_rows);
    vec_foreach(v, &j->before->values) {
        row_paths_add(&j->paths, v->path);
        if (!v->absolute && !baseline_is_system(v->metric))
            j->tolerance = fmin(j->tolerance, v->tolerance);
    }
    j->waits = j->now->values.len > 0;
    vec_foreach(v, &j->now->values) {
        row_paths_add(&j->paths, v->path);
        j->waits = j->waits && baseline_waits(v->metric);
    }
}

/* Lists the values of the baseline that the run has not. */
static void find_gone(struct judge *j)
{
    AUTO(row_names_deinit) struct row_names names = {0}, rows = {0};

    baseline_value_names(j->now, &names);
    add_rows(j->now, &rows);
    vec_foreach(v, &j->before->values)
        if (!baseline_value_find(j->now, &names, v->metric, v->path))
            vec_push(&j->gone, (struct gone){.value = v, .whole = !has_row(&rows, v->path)});
}

static void judge_values(struct judge *j)
{
    AUTO(row_names_deinit) struct row_names names = {0};

    baseline_value_names(j->before, &names);
    vec_foreach(v, &j->now->values) {
        const struct baseline_value *old = baseline_value_find(j->before, &names, v->metric, v->path);

        if (v->outside)
            continue;
        if (old)
            judge_rise(j, old, v, "rose");
        else
            judge_new(j, v);
    }
}

/* Tells of what is gone, and is no new value under another name, if it was more than little. */
static void judge_gone(struct judge *j)
{
    vec_foreach(g, &j->gone)
        if (!g->taken && !is_told(j, g->value) && (g->value->absolute || g->value->share > 0.02))
            vec_push(&j->rest, (struct told){arena_printf(j->arena, "gone: %s of %s, was %s", g->value->metric,
                                                          row_paths_text(&j->paths, j->arena, g->value->path, false),
                                                          amount(j, g->value)),
                                             g->value->absolute ? INFINITY : g->value->share / g->value->tolerance});
}

/* A run that has nothing to compare. */
static void judge_run(struct judge *j)
{
    if (baseline_is_another(j->before, j->now)) {
        j->failed = NULL;
        j->outcome = CHECK_INCONCLUSIVE;
        vec_push(j->lines,
                 "cannot tell: of what the baseline has, next to nothing is in this run. Is it of another program, "
                 "or one whose procedures all have other names? If that is meant, write the baseline again: hq "
                 "check --update");
    }
    if (!j->now->values.len && j->before->values.len) {
        judge_comes_to(j, CHECK_INCONCLUSIVE);
        vec_push(j->lines, "this run has no samples of any row: too few to compare");
    }
}

enum check_outcome baseline_judge(const struct baseline_query *before, const struct baseline_query *now, double alpha,
                                  struct arena *arena, struct check_lines *lines, const struct baseline_value **failed)
{
    struct judge j = {.arena = arena,
                      .lines = lines,
                      .level = alpha,
                      .scatter = baseline_scatter(before, now),
                      .elsewhere = now->elsewhere,
                      .system = now->system,
                      .system_before = now->system_before,
                      .computes = before->computes,
                      .tolerance = INFINITY,
                      .paths.setting = now->names,
                      .before = before,
                      .now = now};

    note_rows(&j);
    find_gone(&j);
    judge_values(&j);
    judge_gone(&j);
    judge_run(&j);
    judge_tell(&j);
    vec_deinit(&j.rose);
    vec_deinit(&j.open);
    vec_deinit(&j.rest);
    vec_deinit(&j.renamed);
    vec_deinit(&j.moved);
    vec_deinit(&j.gone);
    row_paths_deinit(&j.paths);
    row_names_deinit(&j.old_rows);
    if (failed)
        *failed = j.failed;
    return j.outcome;
}
