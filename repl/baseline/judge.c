/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a value larger than its baseline, or may it be chance (baseline.h)? */
#include "repl/baseline/baseline.h"
#include "common/names.h"
#include "repl/gate/judge.h"
#include "repl/baseline/row_paths.h"
#include <math.h>

/* A value of the baseline that the run has not; one that is new may be it. */
struct gone {
    const struct baseline_value *value;
    bool whole; /* no other value of that row is left */
    bool taken;
};

/* A line, and how much there is behind it. */
struct told {
    const char *line;
    double size;
};

struct judge {
    struct arena *arena;
    struct check_lines *lines;
    double level;                        /* of one value */
    double scatter;                      /* of runs: baseline_scatter */
    enum check_outcome outcome;          /* the gravest */
    double least_sure;                   /* of the shares that passed: the rise from which on all are ruled out */
    double wide, tolerance;              /* the same where the tolerance is wider than the narrowest, which is that:
                                            of what computes, where that is judged apart */
    const char *widest;                  /* that row, with its tolerance */
    double seen, wide_seen;              /* the rises that are seen in nine of ten cases, of both */
    double exact;                        /* the same of exact values, as a part of them */
    double scattered;                    /* and of those that differ from run to run */
    enum baseline_elsewhere elsewhere;   /* of what is judged */
    double system, system_before;        /* baseline_system of this run and of the baseline */
    bool computes;                       /* shares are of what computes (baseline_split) */
    double by_hours;                     /* of what rose by no more than hours may explain: the most that they may */
    bool changed_places;                 /* some rose that may be other loops (baseline_changed_places) */
    bool by_machine;                     /* some rose by what the machine may have made (baseline_by_machine) */
    bool is_new;                         /* the value that is judged is not in the baseline */
    bool waits;                          /* all of it is time in calls that wait for others (baseline_waits) */
    const char *waited;                  /* else the metric that is, of which rises are told alone */
    bool one_run;                        /* some were of one run on either side */
    bool one_side;                       /* some were of one run on one of them */
    const char *nearest;                 /* of what passed: the row that rose most of its tolerance, and by how much */
    double near;                         /* of that */
    const struct baseline_value *failed; /* the one that rose most */
    double most;                         /* how much: its rise in tolerances */
    VEC(struct told) rose, open, renamed, moved, rest;
    VEC(struct gone) gone;
    struct row_paths paths;
    const struct baseline_query *before, *now;
    struct row_names old_rows; /* of the baseline */
    size_t wanted;             /* runs that would decide all that is open; 0: some are of one run */
    bool sampling, nameless;   /* most of what is open is sampling; of what may be renamed some is an address now */
};

/* ---- what is said ---- */

static void comes_to(struct judge *j, enum check_outcome outcome)
{
    if (outcome == CHECK_FAIL || (outcome == CHECK_INCONCLUSIVE && j->outcome == CHECK_PASS))
        j->outcome = outcome;
}

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

    comes_to(j, CHECK_INCONCLUSIVE);
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
    comes_to(j, excused || by_hours || by_machine || changed_places ? CHECK_INCONCLUSIVE : CHECK_FAIL);
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
    comes_to(j, CHECK_INCONCLUSIVE);
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

/* ---- the lines in their order ---- */

enum { ROSE_MAX = 8, REST_MAX = 8, OPEN_MAX = 3 };

static int by_size(const void *a, const void *b)
{
    const struct told *x = a, *y = b;

    return x->size < y->size ? 1 : x->size > y->size ? -1 : strcmp(x->line, y->line);
}

static void tell_some(struct judge *j, struct told *list, size_t n, size_t most, const char *of)
{
    if (n)
        qsort(list, n, sizeof *list, by_size);
    for (size_t i = 0; i < n && i < most; i++)
        vec_push(j->lines, list[i].line);
    if (n > most)
        vec_push(j->lines, arena_printf(j->arena, "      and %zu more%s", n - most, of));
}

/* How many values are open, what to do about it, and those that are open widest. */
static void tell_open(struct judge *j)
{
    const char *more = j->sampling ? ", or longer runs, or a higher rate" : "",
               *values = arena_printf(j->arena, "cannot tell: %zu value%s", j->open.len, j->open.len == 1 ? "" : "s");

    if (!j->open.len)
        return;
    vec_sort(&j->open, by_size);
    if (j->wanted >= GATE_RUNS_MOST)
        vec_push(j->lines, arena_printf(j->arena, "%s: they differ too much from run to run for %d runs of both%s",
                                        values, GATE_RUNS_MOST, more));
    else if (j->wanted)
        vec_push(j->lines, arena_printf(j->arena,
                                        "%s: about %zu runs of both would decide (hq record --runs %zu, for the "
                                        "baseline too)%s",
                                        values, j->wanted, j->wanted, more));
    else
        vec_push(j->lines, arena_printf(j->arena, "%s: record several runs%s (hq record --runs 5)%s", values,
                                        j->one_run ? ", for the baseline too" : "", more));
    /* Beside what failed they are of no interest. */
    for (size_t i = 0; j->outcome != CHECK_FAIL && i < j->open.len && i < OPEN_MAX; i++)
        vec_push(j->lines, arena_printf(j->arena, "  %s", j->open.data[i].line));
}

/* Tells of new values that may be none. */
static void tell_unsure(struct judge *j, struct told *list, size_t n, const char *may_be)
{
    if (!n)
        return;
    qsort(list, n, sizeof *list, by_size);
    vec_push(j->lines, arena_printf(j->arena, "cannot tell: %zu new value%s may be %s", n, n == 1 ? "" : "s", may_be));
    for (size_t i = 0; j->outcome != CHECK_FAIL && i < n && i < OPEN_MAX; i++)
        vec_push(j->lines, list[i].line);
}

/* Tells which rises a check that found nothing rules out, and what it does not know. */
static void tell_power(struct judge *j)
{
    if (j->outcome == CHECK_PASS && j->least_sure > 0)
        vec_push(j->lines, arena_printf(j->arena,
                                        "ruled out in 19 of 20 cases: a rise of %.1f points%s; one of %.1f would fail "
                                        "in 9 of 10",
                                        100 * j->least_sure, j->computes ? " of what computes" : "", 100 * j->seen));
    if (j->outcome == CHECK_PASS && (j->wide > j->least_sure || (j->computes && j->wide > 0)))
        vec_push(j->lines, arena_printf(j->arena,
                                        "ruled out where the tolerance is wider: a rise of %.1f points (%s; hq race "
                                        "finds smaller ones); in 9 of 10 is seen one of %.1f",
                                        100 * j->wide, j->widest, 100 * j->wide_seen));
    if (j->computes)
        vec_push(j->lines,
                 arena_printf(j->arena,
                              "shares are of what computes, %.0f%% of the time; cputime.system is the part of "
                              "all that is in the system, or waits in MPI or OpenMP",
                              100 * (1 - j->system)));
    if (j->waited)
        vec_push(j->lines,
                 arena_printf(j->arena, "not judged is %s, in calls that wait for others (hq race)", j->waited));
    if (j->outcome == CHECK_PASS && j->scattered > 0)
        vec_push(j->lines, arena_printf(j->arena,
                                        "ruled out in 19 of 20 cases: a rise of %.3g%% of what is counted and differs "
                                        "from run to run",
                                        100 * j->scattered));
    if (j->outcome == CHECK_PASS && j->exact > 0)
        vec_push(j->lines, arena_printf(j->arena, "seen always: a rise of more than %.3g%%", 100 * j->exact));
    if (j->outcome == CHECK_PASS && j->nearest)
        vec_push(j->lines, j->nearest);
    if (j->one_run)
        vec_push(j->lines, "of one run each: nothing is known of how runs differ; shares are taken to differ by 4 "
                           "points of a half, which is no promise (hq record --runs 5)");
    else if (j->one_side)
        vec_push(j->lines,
                 "one side is of one run: it is taken to differ from others as the runs of the other side do");
}

/* Tells the seconds of what did not fail: first, where they decide. */
static void tell_seconds(struct judge *j, const struct baseline_query *before, const struct baseline_query *now)
{
    struct check_lines seconds = {0};

    if (j->outcome != CHECK_FAIL)
        comes_to(j, baseline_seconds(before, now, j->arena, &seconds));
    if (j->outcome == CHECK_PASS)
        tell_power(j);
    vec_foreach(line, &seconds)
        vec_push(j->lines, *line);
    if (j->outcome != CHECK_PASS)
        tell_power(j);
    vec_deinit(&seconds);
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
    AUTO(row_names_deinit) struct row_names old_names = {0}, new_names = {0}, new_rows = {0};

    add_rows(before, &j.old_rows);
    add_rows(now, &new_rows);
    baseline_value_names(before, &old_names);
    baseline_value_names(now, &new_names);
    vec_foreach(v, &before->values) {
        row_paths_add(&j.paths, v->path);
        if (!v->absolute && !baseline_is_system(v->metric))
            j.tolerance = fmin(j.tolerance, v->tolerance);
    }
    j.waits = now->values.len > 0;
    vec_foreach(v, &now->values) {
        row_paths_add(&j.paths, v->path);
        j.waits = j.waits && baseline_waits(v->metric);
    }
    vec_foreach(v, &before->values)
        if (!baseline_value_find(now, &new_names, v->metric, v->path))
            vec_push(&j.gone, (struct gone){.value = v, .whole = !has_row(&new_rows, v->path)});
    vec_foreach(v, &now->values) {
        const struct baseline_value *old = baseline_value_find(before, &old_names, v->metric, v->path);

        if (v->outside)
            continue;
        if (old)
            judge_rise(&j, old, v, "rose");
        else
            judge_new(&j, v);
    }
    vec_foreach(g, &j.gone)
        if (!g->taken && !is_told(&j, g->value) && (g->value->absolute || g->value->share > 0.02))
            vec_push(&j.rest, (struct told){arena_printf(arena, "gone: %s of %s, was %s", g->value->metric,
                                                         row_paths_text(&j.paths, arena, g->value->path, false),
                                                         amount(&j, g->value)),
                                            g->value->absolute ? INFINITY : g->value->share / g->value->tolerance});
    if (baseline_is_another(before, now)) {
        j.failed = NULL;
        j.outcome = CHECK_INCONCLUSIVE;
        vec_push(lines,
                 "cannot tell: of what the baseline has, next to nothing is in this run. Is it of another program, "
                 "or one whose procedures all have other names? If that is meant, write the baseline again: hq "
                 "check --update");
    }
    if (!now->values.len && before->values.len) {
        comes_to(&j, CHECK_INCONCLUSIVE);
        vec_push(lines, "this run has no samples of any row: too few to compare");
    }
    tell_some(&j, j.rose.data, j.rose.len, ROSE_MAX, "");
    if (j.by_hours > 0 && j.outcome != CHECK_FAIL)
        vec_push(lines, arena_printf(arena,
                                     "cannot tell: %.0f%% of the time is in the system, or waits in MPI or OpenMP. How "
                                     "long that takes depends on what else runs in an hour, which may raise a share by "
                                     "%.1f points: race it (hq race)",
                                     100 * now->system, 100 * j.by_hours));
    if (j.by_machine && j.outcome != CHECK_FAIL)
        vec_push(lines,
                 "cannot tell: the rest of the program takes other seconds than in the baseline, and memory that is "
                 "busier, or less busy, changes shares, too: race it (hq race), or write the baseline again if "
                 "the rest is another by intention");
    if (j.changed_places)
        vec_push(lines, "cannot tell: loops are known by their numbers, and some have what others of their procedure "
                        "had: if they changed places, write the baseline again: hq check --update");
    if (j.waits && j.rose.len)
        vec_push(lines, "cannot tell: how long calls wait for others depends on what else runs in an hour: race it (hq "
                        "race)");
    tell_some(&j, j.rest.data, j.rest.len, REST_MAX, " that fell or are gone");
    tell_unsure(&j, j.renamed.data, j.renamed.len,
                j.nameless ? "of what is gone, under an address for a name: is the program stripped? Record it with "
                             "symbols"
                           : "of what is gone, under another name; if so, write the baseline again: hq check --update");
    tell_unsure(
        &j, j.moved.data, j.moved.len,
        "no extra work: others had as much before, or the baseline has lost a line. Race it (hq race), or write "
        "the baseline again: hq check --update");
    tell_open(&j);
    tell_seconds(&j, before, now);
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
