/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a value is from its baseline, and what chance explains of that: sampling, runs, and hours (baseline.h). */
#include "repl/baseline/baseline.h"
#include "repl/gate/judge.h"
#include <math.h>
#include <string.h>

/*
 * Hours differ twice as much as runs of one hour, sampling aside: with that, of the unchanged programs of the pool of
 * doc/checks.md one baseline in a hundred fails. In its worst, a shell pipeline that lives in system calls, it was one
 * and a half times as much.
 */
static const double between_hours = 1.5;

/* How far the share of a half differs between two runs if nothing is known of that. */
static const double unknown_spread = 0.04;

/* The variance that sampling alone gives to the share of one run; 0: there is none, or it is not known. */
static double sampling_of_run(const struct baseline_value *v)
{
    double share = fmin(1, fmax(0, v->share));

    return isfinite(v->samples) && v->samples > 0 ? share * (1 - share) * fmax(1, v->runs) / v->samples : 0;
}

static void add(const struct baseline_query *q, double *seen, double *sampling)
{
    vec_foreach(v, &q->values)
        /* How far such time differs from hour to hour is in its tolerance. */
        if (!v->absolute && v->runs > 1 && !v->outside && !baseline_is_system(v->metric)) {
            *seen += (v->runs - 1) * v->share_sd * v->share_sd;
            *sampling += (v->runs - 1) * sampling_of_run(v);
        }
}

double baseline_scatter(const struct baseline_query *old, const struct baseline_query *now)
{
    double seen = 0, sampling = 0;

    add(old, &seen, &sampling);
    add(now, &seen, &sampling);
    return sampling > 0 ? fmax(1, seen / sampling) : 1;
}

static void add_hours(struct gate_difference *d, const struct baseline_value *old, const struct baseline_value *now,
                      double scatter)
{
    double runs = d->error * d->error,
           hours = between_hours * between_hours * (scatter - 1) * (sampling_of_run(old) + sampling_of_run(now)),
           both = runs + hours;

    /* Welch's degrees of freedom: what all rows tell together is known as well as many runs tell it. */
    if (runs > 0 && hours > 0)
        d->df *= both * both / (runs * runs);
    d->error = sqrt(both);
}

double baseline_hours(const struct baseline_value *v, double before, double now)
{
    static const double longer = 4, rounded = 0.025; /* the file has it in steps of 5 % */
    double both = fmin(before, now), others = now < 1 ? fmax(0, 1 - before - rounded) / (1 - now) : 0;

    return baseline_is_system(v->metric) ? fmax(0, fmin(both / (1 + both), v->share * (1 - others / longer))) : 0;
}

double baseline_by_machine(const struct baseline_value *old, const struct baseline_value *now)
{
    static const double memory = 1 + BASELINE_ALIKE_MOST; /* at most */

    if (old->absolute || baseline_is_system(now->metric) ||
        !(old->value > 0 && now->value > 0 && old->share > 0 && now->share > 0))
        return 0;
    double was = old->value / old->share - old->value, is = now->value / now->share - now->value;

    if (!(was > 0 && is > 0))
        return 0;
    if (is <= was)
        return fmax(0, now->share - now->value / (now->value + was));
    double rest = is / was, row = old->share * rest * fmin(rest, memory);

    return fmax(0, row / (row + (1 - old->share) * rest) - old->share);
}

bool baseline_waits(const char *metric)
{
    static const char *const names[] = {"mpi_time", "lock_wait", "gpu_wait", "gpu_build"};
    size_t n = baseline_metric_length(metric);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && !strncmp(names[i], metric, n))
            return true;
    return false;
}

/* The share of a value that is in the system or waits. */
static double waits_in(const struct baseline_value *v)
{
    return baseline_waits(v->metric) || baseline_is_system(v->metric) ? fmin(1, fmax(0, v->share)) : 0;
}

static double least_tolerance(const struct baseline_value *v)
{
    return v->absolute ? BASELINE_TOLERANCE_EXACT : v->runs > 1 ? BASELINE_TOLERANCE_RUNS : BASELINE_TOLERANCE_ONE;
}

double baseline_tolerance(const struct baseline_query *q, const struct baseline_value *v)
{
    /* Of all the time: what is less keeps a race open no more either (gate_tolerance_of). */
    static const double of_all = 0.04;
    /* Of counts that differ from run to run: then no more than ten unchanged checks of a hundred are inconclusive, five
     * runs against five or against one. */
    static const double deviations = 4;
    double k = waits_in(v), twice_as_long = k * (1 - k) / (1 + k), least = least_tolerance(v);

    /* In tenths of a percent, as people read it. */
    if (v->absolute)
        return v->runs > 1 && v->value > 0 ? fmax(least, ceil(1000 * deviations * v->value_sd / v->value - 1e-6) / 1000)
                                           : least;
    if (q->computes && isfinite(v->samples) && !baseline_is_system(v->metric))
        least = fmin(1, fmax(least, of_all / fmax(0.01, 1 - q->system)));
    /* In whole points, as the file has it. */
    return ceil(100 * fmax(least, 2 * twice_as_long) - 1e-6) / 100;
}

size_t baseline_wider(const struct baseline_query *q, double *most)
{
    size_t n = 0;

    *most = 0;
    vec_foreach(v, &q->values)
        if (waits_in(v) > 0 && !v->absolute && v->tolerance > least_tolerance(v)) {
            n++;
            *most = fmax(*most, v->tolerance);
        }
    return n;
}

size_t baseline_scattered(const struct baseline_query *q, double *most)
{
    size_t n = 0;

    *most = 0;
    vec_foreach(v, &q->values)
        if (v->absolute && v->value_sd > 0 && v->tolerance > least_tolerance(v)) {
            n++;
            *most = fmax(*most, v->tolerance);
        }
    return n;
}

double baseline_sampling(double a, double n, double b, double m)
{
    if (isinf(n) && isinf(m))
        return 0;
    n = isinf(n) ? 1e18 : fmax(n, 1);
    m = isinf(m) ? 1e18 : fmax(m, 1);
    /* One success and one failure are added, so that 0 of few is not certainty. Nor is two of fifteen against hardly
     * any of many, which pooled would be beyond chance. */
    double pooled = (a * n + b * m + 1) / (n + m + 2), p = (a * n + 1) / (n + 2), q = (b * m + 1) / (m + 2);

    return sqrt(fmax(pooled * (1 - pooled) * (1 / n + 1 / m), p * (1 - p) / n + q * (1 - q) / m));
}

static double spread_of_shares(double a, double b)
{
    double p = fmin(1, fmax(0, (a + b) / 2));

    return unknown_spread * 2 * sqrt(p * (1 - p));
}

struct gate_difference baseline_difference(const struct baseline_value *old, const struct baseline_value *now,
                                           double scatter)
{
    bool several = old->runs > 1 || now->runs > 1, known = !isnan(old->samples) && !isnan(now->samples);
    struct gate_difference d;

    if (old->absolute && now->absolute) {
        /* Counts have no error, but those of threads, and of calls that ask again and again, may differ from run to
         * run. */
        d = gate_apart(old->value, old->value_sd, baseline_runs(old), now->value, now->value_sd, baseline_runs(now));
        if (d.error < 0.05 * old->tolerance * old->value || d.df <= 0)
            d = gate_exact(old->value, now->value);
        d.allowed = old->tolerance * old->value;
        return d;
    }
    double sampling = known ? baseline_sampling(old->share, old->samples, now->share, now->samples) : 0;

    d = gate_apart(old->share, old->share_sd, old->runs > 1 ? old->runs : 1, now->share, now->share_sd,
                   now->runs > 1 ? now->runs : 1);
    d.allowed = old->tolerance;
    if (several) {
        d.sampling = sampling;
        add_hours(&d, old, now, scatter);
    } else if (known) {
        d.error = hypot(sampling, spread_of_shares(old->share, now->share));
        d.df = INFINITY;
    }
    return d;
}

/* ---- all values of a file together ---- */

double baseline_alpha(const struct baseline *before, const struct baseline_query *now)
{
    VEC(struct gate_difference) all = {0};
    const struct baseline_value *some = NULL, *sampled = NULL;

    vec_foreach(v, &now->values) {
        some = v;
        sampled = v->absolute ? sampled : v;
    }
    vec_foreach(q, &before->queries) {
        double scatter = baseline_scatter(q, q);

        vec_foreach(v, &q->values) {
            struct baseline_value same = *v;
            bool known = false;

            /* As large as it was, as well known as this run tells: the chance before the values are looked at. */
            same.samples = sampled ? sampled->samples : v->samples;
            same.runs = some ? some->runs : 1;
            struct gate_difference d = baseline_difference(v, &same, scatter);

            vec_foreach(other, &all)
                known |= other->old == d.old && other->error == d.error && other->sampling == d.sampling &&
                         other->allowed == d.allowed;
            if (!known && (!v->absolute || d.error > 0))
                vec_push(&all, d);
        }
    }
    double level = gate_level(all.data, all.len, GATE_FAMILY);

    vec_deinit(&all);
    return level;
}
