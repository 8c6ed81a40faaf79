/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a value larger than its baseline, or may it be chance (baseline.h)? */
#include "repl/baseline.h"
#include "repl/gate/judge.h"
#include <math.h>
#include <string.h>

/* How far the share of a half differs between two runs if nothing is known of that. */
static const double unknown_spread = 0.04;

struct judge {
    struct arena *arena;
    struct check_lines *lines;
    double level;               /* of one value */
    enum check_outcome outcome; /* the gravest */
    double least_sure;          /* of the shares that passed: what would have been seen */
    bool one_run;               /* some were of one run on either side */
};

/* ---- what is said ---- */

static void say(struct judge *j, enum check_outcome outcome, const char *line)
{
    vec_push(j->lines, line);
    if (outcome == CHECK_FAIL || (outcome == CHECK_INCONCLUSIVE && j->outcome == CHECK_PASS))
        j->outcome = outcome;
}

static const char *amount(struct judge *j, const struct baseline_value *v)
{
    char text[UNITS_TEXT];

    return v->absolute ? arena_strdup(j->arena, units_format(text, v->value, v->dim))
                       : arena_printf(j->arena, "%.1f%%", 100 * v->share);
}

/* What is known of the times besides the shares. */
static const char *times(struct judge *j, const struct baseline_value *old, const struct baseline_value *now)
{
    char from[UNITS_TEXT], to[UNITS_TEXT];

    if (old->absolute || old->runs < 2 || old->value <= 0)
        return "";
    units_format(from, old->value, old->dim);
    units_format(to, now->value, now->dim);
    return arena_printf(j->arena, " (%s -> %s)", from, to);
}

/* ---- the difference and its standard error ---- */

static double sampling_error(double a, double n, double b, double m)
{
    double pooled;

    if (isinf(n) && isinf(m))
        return 0;
    n = isinf(n) ? 1e18 : fmax(n, 1);
    m = isinf(m) ? 1e18 : fmax(m, 1);
    /* One success and one failure are added, so that 0 of few is not certainty. */
    pooled = (a * n + b * m + 1) / (n + m + 2);
    return sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
}

static double spread_of_shares(double a, double b)
{
    double p = fmin(1, fmax(0, (a + b) / 2));

    return unknown_spread * 2 * sqrt(p * (1 - p));
}

static struct gate_difference difference(const struct baseline_value *old, const struct baseline_value *now)
{
    bool several = old->runs > 1 || now->runs > 1, known = !isnan(old->samples) && !isnan(now->samples);
    struct gate_difference d;

    if (old->absolute && now->absolute) {
        d = gate_exact(old->value, now->value);
        d.allowed = old->tolerance * old->value;
        return d;
    }
    double sampling = known ? sampling_error(old->share, old->samples, now->share, now->samples) : 0;

    d = gate_apart(old->share, old->share_sd, old->runs > 1 ? old->runs : 1, now->share, now->share_sd,
                   now->runs > 1 ? now->runs : 1);
    d.allowed = old->tolerance;
    if (several) {
        d.error = fmax(d.error, sampling);
    } else if (known) {
        d.error = hypot(sampling, spread_of_shares(old->share, now->share));
        d.df = INFINITY;
    }
    return d;
}

/* Tells a rise from noise; `what` is how the line begins. */
static void judge_rise(struct judge *j, const struct baseline_value *old, const struct baseline_value *now,
                       const char *what)
{
    struct gate_difference d = difference(old, now);
    enum gate_verdict verdict = gate_judge(&d, j->level);
    const char *from = amount(j, old), *to = amount(j, now), *more = times(j, old, now);
    double seen = gate_seen(&d, j->level);

    if (verdict == GATE_FAIL)
        say(j, CHECK_FAIL, arena_printf(j->arena, "%s: %s -> %s%s", what, from, to, more));
    else if (verdict == GATE_UNDECIDED && !isfinite(seen))
        say(j, CHECK_INCONCLUSIVE,
            arena_printf(j->arena,
                         "cannot tell: %s of %s: %s -> %s; how far runs differ is not known: record several "
                         "(hq record --runs N)",
                         now->metric, now->path, from, to));
    else if (verdict == GATE_UNDECIDED)
        say(j, CHECK_INCONCLUSIVE,
            arena_printf(
                j->arena,
                "cannot tell: %s of %s: %s -> %s%s; only a rise of %.1f points is sure to be seen, its tolerance is "
                "%.3g: more runs would decide",
                now->metric, now->path, from, to, more, 100 * seen, 100 * d.allowed));
    else if (-d.rise > d.allowed / 2 && gate_interval(&d) < -d.rise)
        say(j, CHECK_PASS,
            arena_printf(j->arena, "fell: %s of %s: %s -> %s%s", now->metric, now->path, from, to, more));
    if (!old->absolute && verdict == GATE_OK) {
        j->least_sure = fmax(j->least_sure, seen);
        j->one_run |= old->runs < 2 && now->runs < 2;
    }
}

/* ---- rows ---- */

/* What is not in the baseline was at most as large as the smallest that is. */
static void judge_new(struct judge *j, const struct baseline_query *before, const struct baseline_value *now)
{
    struct baseline_value least = {
        .metric = now->metric, .path = now->path, .share = 1, .samples = NAN, .tolerance = BASELINE_TOLERANCE_ONE};
    bool any = false;

    vec_foreach(v, &before->values)
        if (!strcmp(v->metric, now->metric) && v->absolute == now->absolute) {
            double smallest = any && v->absolute ? fmin(least.value, v->value) : v->value;

            any = true;
            least.share = fmin(least.share, v->share);
            least.value = smallest;
            least.absolute = v->absolute;
            least.samples = v->samples;
            least.runs = v->runs;
            least.share_sd = fmax(least.share_sd, v->share_sd);
            least.tolerance = v->tolerance;
        }
    if (!any)
        return;
    if (now->absolute ? now->value > least.value : now->share > least.share)
        judge_rise(j, &least, now, arena_printf(j->arena, "new: %s of %s", now->metric, now->path));
}

/* ---- all values of a file together ---- */

double baseline_alpha(const struct baseline *before, const struct baseline_query *now)
{
    VEC(struct gate_difference) all = {0};
    const struct baseline_value *some = NULL;

    vec_foreach(v, &now->values)
        if (!v->absolute)
            some = v;
    vec_foreach(q, &before->queries)
        vec_foreach(v, &q->values) {
            struct baseline_value same = *v;
            bool known = false;

            /* As large as it was, as well known as this run tells: the chance before the values are looked at. */
            same.samples = some ? some->samples : v->samples;
            same.runs = some ? some->runs : 1;
            struct gate_difference d = difference(v, &same);

            vec_foreach(other, &all)
                known |= other->old == d.old && other->error == d.error && other->allowed == d.allowed;
            if (!known && !v->absolute)
                vec_push(&all, d);
        }
    double level = gate_level(all.data, all.len, GATE_FAMILY);

    vec_deinit(&all);
    return level;
}

/* What a check that found nothing would have found. */
static void tell_power(struct judge *j)
{
    if (j->outcome == CHECK_PASS && j->least_sure > 0)
        say(j, CHECK_PASS,
            arena_printf(j->arena, "seen in 9 of 10 cases: a rise of %.1f points%s", 100 * j->least_sure,
                         j->one_run ? ", of one run each: nothing is known of how runs differ" : ""));
}

enum check_outcome baseline_judge(const struct baseline_query *before, const struct baseline_query *now, double alpha,
                                  struct arena *arena, struct check_lines *lines)
{
    struct judge j = {.arena = arena, .lines = lines, .level = alpha};
    AUTO(row_names_deinit) struct row_names old_names = {0}, new_names = {0};

    baseline_value_names(before, &old_names);
    baseline_value_names(now, &new_names);
    vec_foreach(v, &now->values) {
        const struct baseline_value *old = baseline_value_find(before, &old_names, v->metric, v->path);

        if (v->outside)
            continue;
        if (old)
            judge_rise(&j, old, v, arena_printf(arena, "rose: %s of %s", v->metric, v->path));
        else
            judge_new(&j, before, v);
    }
    vec_foreach(v, &before->values)
        if (!baseline_value_find(now, &new_names, v->metric, v->path) && (v->absolute || v->share > 0.02))
            say(&j, CHECK_PASS, arena_printf(arena, "gone: %s of %s, was %s", v->metric, v->path, amount(&j, v)));
    if (!now->values.len && before->values.len)
        say(&j, CHECK_INCONCLUSIVE, "this run has no samples of any row: too few to compare");
    tell_power(&j);
    return j.outcome;
}

/* ---- an update ---- */

/* Far from what a check calls a rise, so that what it called one is written anew. */
static bool is_as_before(const struct baseline_value *old, const struct baseline_value *now)
{
    struct gate_difference d = difference(old, now);

    return !old->absolute && d.error > 0 && now->samples < 1.2 * old->samples && now->runs <= old->runs &&
           fabs(d.rise) < 1.64 * d.error;
}

static double tolerance_of(const struct baseline_value *v)
{
    return v->absolute ? BASELINE_TOLERANCE_EXACT : v->runs > 1 ? BASELINE_TOLERANCE_RUNS : BASELINE_TOLERANCE_ONE;
}

void baseline_renew(struct baseline_query *q, const struct baseline_query *before, bool by_source, double tolerance,
                    double least)
{
    AUTO(arena_deinit) struct arena arena = {0};
    AUTO(row_names_deinit) struct row_names names = {0};
    size_t kept = 0;

    if (before)
        baseline_value_names(before, &names);
    for (size_t i = 0; i < q->values.len; i++) {
        struct baseline_value v = q->values.data[i];
        const struct baseline_value *old = baseline_value_find(before, &names, v.metric,
                                                               by_source ? baseline_fold_path(&arena, v.path) : v.path);

        old = old && old->absolute == v.absolute ? old : NULL;
        if (!old && v.share < least)
            continue;
        v.tolerance = old ? old->tolerance : tolerance > 0 ? tolerance : tolerance_of(&v);
        if (old && is_as_before(old, &v)) {
            v.share = old->share;
            v.samples = old->samples;
            v.runs = old->runs;
            v.share_sd = old->share_sd;
            v.value = old->value;
            v.value_sd = old->value_sd;
        }
        q->values.data[kept++] = v;
    }
    q->values.len = kept;
}
