/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a value larger than its baseline, or may it be chance (baseline.h)? */
#include "repl/baseline.h"
#include "repl/quantile.h"
#include <math.h>
#include <string.h>

enum { SAMPLES_MIN = 100 };            /* fewer say nothing about shares */
static const double tells_share = 0.2; /* a comparison that could not tell a rise of twenty points ... */
static const double tells_mean = 0.25; /* ... or of a quarter is inconclusive if it sees one beyond the tolerance */

static const double familywise = 0.01; /* chance that an unchanged run is called a rise */

struct judge {
    struct arena *arena;
    struct check_lines *lines;
    double alpha;               /* of one value */
    enum check_outcome outcome; /* the gravest */
};

/* ---- what is said ---- */

static void say(struct judge *j, enum check_outcome outcome, const char *line)
{
    vec_push(j->lines, line);
    if (outcome == CHECK_FAIL || (outcome == CHECK_INCONCLUSIVE && j->outcome == CHECK_PASS))
        j->outcome = outcome;
}

static const char *amount(struct judge *j, const struct baseline_value *v, bool absolute)
{
    char text[UNITS_TEXT];

    return absolute ? arena_strdup(j->arena, units_format(text, v->value, v->dim))
                    : arena_printf(j->arena, "%.1f%%", 100 * v->share);
}

/* ---- the difference and its standard error ---- */

static double share_error(double a, double n, double b, double m)
{
    double pooled;

    if (isnan(n) || isnan(m))
        return 0;
    if (isinf(n) && isinf(m))
        return 0;
    n = isinf(n) ? 1e18 : fmax(n, 1);
    m = isinf(m) ? 1e18 : fmax(m, 1);
    /* One success and one failure are added, so that 0 of few is not certainty. */
    pooled = (a * n + b * m + 1) / (n + m + 2);
    return sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
}

static double mean_error(const struct baseline_value *a, const struct baseline_value *b, double *df)
{
    double n = a->runs, m = b->runs ? b->runs : 1, squares = (n - 1) * a->sd * a->sd + (m - 1) * b->sd * b->sd;

    *df = n + m - 2;
    return sqrt(squares / *df * (1 / n + 1 / m));
}

/* About how many samples more until a difference of this size counts; both sides have their part in the error. */
static const char *more_samples(struct judge *j, const struct baseline_value *old, const struct baseline_value *now)
{
    double rise = now->share - old->share, z = normal_above(j->alpha), n = old->samples, m = now->samples, pooled, room;

    if (!isfinite(m) || m <= 0)
        return "";
    pooled = isfinite(n) ? (old->share * n + now->share * m + 1) / (n + m + 2) : now->share;
    room = rise / z * (rise / z) / (pooled * (1 - pooled)) - (isfinite(n) ? 1 / n : 0);
    if (room <= 0)
        return "; the baseline has too few samples, write it again from a longer run";
    return arena_printf(j->arena, "; about %.0f more samples would decide", fmax(1, ceil(1 / room - m)));
}

/* Tells a rise from noise; `old` is the baseline, `what` how the line begins. */
static void judge_rise(struct judge *j, const struct baseline_value *old, const struct baseline_value *now,
                       const char *what)
{
    bool absolute = old->absolute;
    double rise = absolute ? now->value - old->value : now->share - old->share;
    double allowed = absolute ? old->tolerance * old->value : old->tolerance, need, df = 0;

    need = absolute ? mean_error(old, now, &df) : share_error(old->share, old->samples, now->share, now->samples);
    need *= absolute ? student_above(j->alpha, df) : normal_above(j->alpha);
    if (isnan(need))
        need = INFINITY;
    if (rise > allowed && rise > need)
        say(j, CHECK_FAIL,
            arena_printf(j->arena, "%s: %s -> %s", what, amount(j, old, absolute), amount(j, now, absolute)));
    else if (rise > allowed && need > (absolute ? tells_mean * old->value : tells_share))
        say(j, CHECK_INCONCLUSIVE,
            arena_printf(j->arena, "%s, perhaps by chance: %s -> %s%s", what, amount(j, old, absolute),
                         amount(j, now, absolute), absolute ? "; more runs would decide" : more_samples(j, old, now)));
    else if (-rise > allowed && -rise > need)
        say(j, CHECK_PASS,
            arena_printf(j->arena, "fell: %s of %s: %s -> %s", now->metric, now->path, amount(j, old, absolute),
                         amount(j, now, absolute)));
}

/* ---- rows ---- */

/* What is not in the baseline was at most as large as the smallest that is. */
static void judge_new(struct judge *j, const struct baseline_query *before, const struct baseline_value *now)
{
    struct baseline_value least = {
        .metric = now->metric, .path = now->path, .share = 1, .samples = NAN, .tolerance = 0.02};
    bool any = false;

    vec_foreach(v, &before->values)
        if (!v->absolute && !strcmp(v->metric, now->metric)) {
            any = true;
            least.share = fmin(least.share, v->share);
            least.samples = v->samples;
            least.tolerance = v->tolerance;
        }
    if (!any)
        least.share = 0;
    if (now->share > least.share)
        judge_rise(j, &least, now, arena_printf(j->arena, "new: %s of %s", now->metric, now->path));
}

static double samples_in(const struct baseline_query *q)
{
    double most = 0;

    vec_foreach(v, &q->values)
        most = isnan(v->samples) || v->absolute ? INFINITY : fmax(most, v->samples);
    return most;
}

/* ---- all values of a file together ---- */

/* How likely chance lifts a value above its tolerance. Of means it is not known before the runs have told their spread.
 */
static double chance(const struct baseline_value *v, double samples)
{
    double error = v->absolute ? 0 : share_error(v->share, v->samples, v->share, samples);

    return error > 0 ? normal_beyond(v->tolerance / error) : 1;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* In the order of what is measured. */
static int by_value(const void *pa, const void *pb)
{
    const struct baseline_value *a = pa, *b = pb;
    double x[] = {a->absolute, a->share, a->value, a->sd, a->tolerance},
           y[] = {b->absolute, b->share, b->value, b->sd, b->tolerance};

    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

double baseline_alpha(const struct baseline *before, const struct baseline_query *now)
{
    VEC(struct baseline_value) values = {0};
    VEC(double) chances = {0};
    double samples = samples_in(now), rest = 0, alpha = 0;

    vec_foreach(q, &before->queries)
        vec_append(&values, q->values.data, q->values.len);
    vec_sort(&values, by_value);
    for (size_t i = 0; i < values.len; i++)
        if (!i || by_value(&values.data[i], &values.data[i - 1]))
            vec_push(&chances, chance(&values.data[i], samples));
    vec_sort(&chances, descending);
    vec_foreach(c, &chances)
        rest += *c;
    /* The k likeliest have alpha each, the others what the tolerance leaves them, which is less. */
    for (size_t k = 1; k <= chances.len; k++) {
        rest -= chances.data[k - 1];
        alpha = (familywise - rest) / (double)k;
        if (alpha > 0 && (k == chances.len || alpha >= chances.data[k]))
            break;
    }
    vec_deinit(&values);
    vec_deinit(&chances);
    return alpha > 0 && alpha < familywise ? alpha : familywise;
}

enum check_outcome baseline_judge(const struct baseline_query *before, const struct baseline_query *now, double alpha,
                                  struct arena *arena, struct check_lines *lines)
{
    struct judge j = {arena, lines, alpha, CHECK_PASS};
    double samples = samples_in(now);

    vec_foreach(v, &now->values) {
        const struct baseline_value *old = baseline_value_find(before, v);

        if (v->outside)
            continue;
        if (old)
            judge_rise(&j, old, v, arena_printf(arena, "rose: %s of %s", v->metric, v->path));
        else
            judge_new(&j, before, v);
    }
    vec_foreach(v, &before->values)
        if (!baseline_value_find(now, v) && (v->absolute || v->share > v->tolerance))
            say(&j, CHECK_PASS,
                arena_printf(arena, "gone: %s of %s, was %s", v->metric, v->path, amount(&j, v, v->absolute)));
    if (samples < SAMPLES_MIN && j.outcome == CHECK_PASS && before->values.len)
        say(&j, CHECK_INCONCLUSIVE,
            arena_printf(arena, "only %.0f samples: too few to compare; about %.0f more would do", samples,
                         SAMPLES_MIN - samples));
    return j.outcome;
}

/* ---- an update ---- */

/* Far from what a check calls a rise, so that what it called one is written anew. */
static bool is_as_before(const struct baseline_value *old, const struct baseline_value *now)
{
    double error = share_error(old->share, old->samples, now->share, now->samples);

    return !old->absolute && error > 0 && now->samples < 1.2 * old->samples &&
           fabs(now->share - old->share) < normal_above(0.05) * error;
}

void baseline_renew(struct baseline_query *q, const struct baseline_query *before, double tolerance, double least)
{
    size_t kept = 0;

    for (size_t i = 0; i < q->values.len; i++) {
        struct baseline_value v = q->values.data[i];
        const struct baseline_value *old = baseline_value_find(before, &v);

        old = old && old->absolute == v.absolute ? old : NULL;
        if (!old && v.share < least)
            continue;
        v.tolerance = old ? old->tolerance : tolerance;
        if (old && is_as_before(old, &v)) {
            v.share = old->share;
            v.samples = old->samples;
        }
        q->values.data[kept++] = v;
    }
    q->values.len = kept;
}
