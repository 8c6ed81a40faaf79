/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/judge.h"
#include "common/mem.h"
#include "repl/gate/signed_rank.h"
#include "repl/gate/quantile.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double mean_of(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / (double)n : 0;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

double gate_typical(const double *x, size_t n, double *room)
{
    if (n < GATE_RANKS)
        return mean_of(x, n);
    memcpy(room, x, n * sizeof *x);
    qsort(room, n, sizeof *room, ascending);
    return signed_rank_estimate(room, n);
}

static void judge_by_ranks(struct gate_difference *d, const double *old, const double *now, double *room)
{
    d->old = gate_typical(old, d->n, room);
    for (size_t i = 0; i < d->n; i++)
        room[i] = now[i] - old[i];
    qsort(room, d->n, sizeof *room, ascending);
    d->sorted = room;
    d->rise = signed_rank_estimate(room, d->n);
    d->now = d->old + d->rise;
    /* As wide as the normal distribution whose middle four fifths are as wide. */
    d->error = (signed_rank_above(room, d->n, 0.1) - signed_rank_below(room, d->n, 0.1)) / (2 * normal_above(0.1));
}

struct gate_difference gate_paired(const double *old, const double *now, size_t n, double *room)
{
    struct gate_difference d = {
        .old = mean_of(old, n), .now = mean_of(now, n), .df = n > 1 ? (double)n - 1 : 0, .n = n};
    double squares = 0;

    d.rise = d.now - d.old;
    for (size_t i = 0; i < n; i++) {
        double off = now[i] - old[i] - d.rise;

        squares += off * off;
    }
    d.error = n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : 0;
    if (n >= GATE_RANKS && d.error > 0)
        judge_by_ranks(&d, old, now, room);
    return d;
}

struct gate_difference gate_apart(double old, double old_sd, size_t n, double now, double now_sd, size_t m)
{
    struct gate_difference d = {.old = old, .now = now, .rise = now - old};
    double a = n > 1 ? old_sd * old_sd / (double)n : 0, b = m > 1 ? now_sd * now_sd / (double)m : 0;

    /* A side of one run is taken to scatter as the other does. */
    if (n > 1 && m == 1)
        b = old_sd * old_sd;
    if (m > 1 && n == 1)
        a = now_sd * now_sd;
    d.error = sqrt(a + b);
    if (n > 1 && m > 1)
        d.df = a + b > 0 ? (a + b) * (a + b) / (a * a / (double)(n - 1) + b * b / (double)(m - 1))
                         : (double)(n + m - 2);
    else if (n > 1 || m > 1)
        d.df = (double)(n > 1 ? n : m) - 1;
    return d;
}

struct gate_difference gate_exact(double old, double now)
{
    return (struct gate_difference){.old = old, .now = now, .rise = now - old, .df = INFINITY};
}

/* Student's t above which a value lies with this probability. */
static double above(double level, double df)
{
    if (level >= 0.5)
        return 0;
    return isinf(df) ? normal_above(level) : student_above(level, df);
}

static double error_of(const struct gate_difference *d)
{
    return fmax(d->error, d->sampling);
}

/* How likely chance alone lifts a row over half its tolerance. */
static double chance(const struct gate_difference *d)
{
    double error = error_of(d);

    /* Exact values do not rise by chance, and of what has no known error nothing fails. */
    if ((error == 0 && !d->sorted) || d->df <= 0)
        return 0;
    if (d->sorted) {
        double by_ranks = signed_rank_tail(d->n, signed_rank_over(d->sorted, d->n, d->rise - 0.5 * d->allowed));

        return fmax(by_ranks, d->sampling > 0 ? normal_beyond(0.5 * d->allowed / d->sampling) : 0);
    }
    double t = 0.5 * d->allowed / error;

    return isinf(d->df) ? normal_beyond(t) : student_beyond(t, d->df);
}

double gate_level(const struct gate_difference *rows, size_t n, double family)
{
    enum { STEPS = 30 };
    double low = family / (double)(n ? n : 1), high = family;
    AUTO_FREE double *by_chance = xcalloc(n + 1, sizeof *by_chance);

    for (size_t i = 0; i < n; i++)
        by_chance[i] = chance(&rows[i]);
    /* The sum of what each may fail by grows with the level. */
    for (int step = 0; step < STEPS; step++) {
        double level = sqrt(low * high), sum = 0;

        for (size_t i = 0; i < n; i++)
            sum += fmin(level, by_chance[i]);
        if (sum <= family)
            low = level;
        else
            high = level;
    }
    return low;
}

double gate_spent(double share)
{
    return share >= 1 ? GATE_FAMILY : share <= 0 ? 0 : GATE_FAMILY * pow(share, 4);
}

/* How far a bound of this probability lies from the rise; by_ranks: of what ranks judge. */
static double bound_at(const struct gate_difference *d, double level, double by_ranks)
{
    double by_runs = d->sorted ? by_ranks : d->error > 0 ? above(level, d->df) * d->error : 0;

    return fmax(by_runs, d->sampling > 0 ? above(level, INFINITY) * d->sampling : 0);
}

/* Returns the difference that chance exceeds with this probability; INFINITY: so few pairs cannot tell. */
static double by_chance_at(const struct gate_difference *d, double level)
{
    return bound_at(d, level, d->sorted ? d->rise - signed_rank_below(d->sorted, d->n, level) : 0);
}

/* Returns by how much the rise may be larger than it seems. */
static double hidden_at(const struct gate_difference *d, double missed)
{
    return bound_at(d, missed, d->sorted ? signed_rank_above(d->sorted, d->n, missed) - d->rise : 0);
}

/* Returns the rise above which a value fails. */
static double threshold(const struct gate_difference *d, double level)
{
    double least = error_of(d) > 0 ? d->allowed / 2 : d->allowed;

    return fmax(least, by_chance_at(d, level));
}

static double needed(const struct gate_difference *d)
{
    return fmax(d->needed, d->allowed);
}

bool gate_fell(const struct gate_difference *d)
{
    return d->df > 0 && -d->rise > 2 * gate_interval(d);
}

double gate_missed(double family)
{
    return family / GATE_FAMILY * GATE_MISSED;
}

double gate_bound(const struct gate_difference *d, double missed)
{
    return d->df > 0 ? d->rise + hidden_at(d, missed) : INFINITY;
}

double gate_seen(const struct gate_difference *d, double level)
{
    static const double one_in_ten = 0.1;
    double least, scatter = 1;

    if (d->df <= 0)
        return INFINITY;
    least = threshold(d, level);
    /* Of few runs the error is not known well, and where it is what a rise has to exceed, that scatters too. */
    if (!d->sorted && d->error > 0 && isfinite(d->df) && least > d->allowed / 2)
        scatter = sqrt(1 + least * least / (d->error * d->error * 2 * d->df));
    return least + scatter * hidden_at(d, one_in_ten);
}

enum gate_verdict gate_judge(const struct gate_difference *d, double level, double missed)
{
    if (d->df <= 0)
        return GATE_UNDECIDED;
    if (d->rise > threshold(d, level))
        return GATE_FAIL;
    if (gate_fell(d))
        return GATE_OK;
    return gate_bound(d, missed) <= needed(d) * (1 + 1e-9) ? GATE_OK : GATE_UNDECIDED;
}

/* The error of m runs, if this one is of n. */
static double of_more(double error, size_t n, size_t m)
{
    return error * sqrt((double)n / (double)m);
}

/* Whether m runs would decide what n did not, if they differ as those do, whatever their rise is; by_ranks: what chance
 * explains in these, if ranks judge them. */
static bool would_decide(const struct gate_difference *d, double level, size_t n, size_t m, double by_ranks)
{
    struct gate_difference more = *d;

    more.sorted = NULL;
    more.error = of_more(d->error, n, m);
    more.sampling = of_more(d->sampling, n, m);
    more.df = d->df + (double)(m - n);
    /* Single disturbed runs make what ranks explain by chance wider than the normal distribution has it. */
    double least = isfinite(by_ranks) ? fmax(0.5 * d->allowed, of_more(by_ranks, n, m)) : threshold(&more, level);

    double hidden = d->sorted ? of_more(hidden_at(d, GATE_MISSED), n, m) : hidden_at(&more, GATE_MISSED);

    return least + hidden <= needed(d) || d->rise > least;
}

size_t gate_runs_wanted(const struct gate_difference *d, double level, size_t n)
{
    size_t low = n, high = GATE_RUNS_MOST;

    if (d->df <= 0 || n < 2)
        return n + 2;
    double by_ranks = d->sorted ? by_chance_at(d, level) : INFINITY;

    while (high - low > 1) {
        size_t middle = (low + high) / 2;

        if (would_decide(d, level, n, middle, by_ranks))
            high = middle;
        else
            low = middle;
    }
    return high;
}

double gate_interval(const struct gate_difference *d)
{
    if (d->df <= 0)
        return INFINITY;
    if (d->sorted)
        return fmax((signed_rank_above(d->sorted, d->n, 0.025) - signed_rank_below(d->sorted, d->n, 0.025)) / 2,
                    above(0.025, INFINITY) * d->sampling);
    return by_chance_at(d, 0.025);
}
