/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/steps.h"
#include "repl/gate/quantile.h"
#include <math.h>

#define NEAR 7.35 /* likelihood ratio */

struct stretch {
    const double *y;
    size_t first, n;
};

struct found {
    struct gate_step *out;
    size_t len, most;
    double level, least, samples;
};

static double mean_of(const double *y, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += y[i];
    return sum / (double)n;
}

static double squares_of(const double *y, size_t n)
{
    double mean = mean_of(y, n), sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (y[i] - mean) * (y[i] - mean);
    return sum;
}

/* Returns the sum of squares that two levels leave unexplained if the second begins at value k. */
static double split_squares(const struct stretch *s, size_t k)
{
    return squares_of(s->y, k) + squares_of(s->y + k, s->n - k);
}

/* The variance that sampling alone gives to a share. */
static double sampling(double share, double samples)
{
    return samples > 0 && share > 0 && share < 1 ? share * (1 - share) / samples : 0;
}

/* How likely chance makes a difference of that size; rest: the sum of squares that it leaves, of n - 2 degrees; least:
 * the variance that each value has by sampling. It has to be beyond both. */
static double likelihood(double difference, double variance_factor, double rest, size_t n, double least)
{
    double error = sqrt(rest / (double)(n - 2) * variance_factor), by_sampling = sqrt(least * variance_factor);

    if (difference == 0)
        return 1;
    return 2 * fmax(error > 0 ? student_beyond(fabs(difference) / error, (double)(n - 2)) : 0,
                    by_sampling > 0 ? normal_beyond(fabs(difference) / by_sampling) : 0);
}

/* A straight line: its ends, what it leaves, and how likely chance makes its slope. */
struct line {
    double before, after, rest, likelihood;
};

static struct line line_of(const struct stretch *s, double samples)
{
    double n = (double)s->n, mean = mean_of(s->y, s->n), middle = (n - 1) / 2, xx = 0, xy = 0;
    struct line l = {0};

    for (size_t i = 0; i < s->n; i++) {
        double x = (double)i - middle;

        xx += x * x;
        xy += x * (s->y[i] - mean);
    }
    double slope = xy / xx;

    for (size_t i = 0; i < s->n; i++) {
        double off = s->y[i] - mean - slope * ((double)i - middle);

        l.rest += off * off;
    }
    l.before = mean - slope * middle;
    l.after = mean + slope * middle;
    l.likelihood = likelihood(slope, 1 / xx, l.rest, s->n, sampling(fmax(l.before, l.after), samples));
    return l;
}

static void add(struct found *f, const struct gate_step *step)
{
    if (f->len < f->most)
        f->out[f->len++] = *step;
}

static void find(struct found *f, struct stretch s)
{
    size_t best = 2;
    double least = INFINITY;

    if (s.n < STEPS_LEAST)
        return;
    for (size_t k = 2; k + 2 <= s.n; k++) {
        double rest = split_squares(&s, k);

        if (rest < least) {
            least = rest;
            best = k;
        }
    }
    struct gate_step step = {
        .at = s.first + best, .before = mean_of(s.y, best), .after = mean_of(s.y + best, s.n - best)};
    struct line line = line_of(&s, f->samples);
    double splits = (double)(s.n - 3),
           by_step = splits * likelihood(step.after - step.before, 1 / (double)best + 1 / (double)(s.n - best), least,
                                         s.n, sampling(fmax(step.before, step.after), f->samples));

    /* Rounding is no change. */
    double scale = 1e-12 * (fabs(step.before) + fabs(step.after)), told = fmax(f->least, scale);

    if (line.rest < least && line.likelihood <= f->level && fabs(line.after - line.before) >= told) {
        add(f, &(struct gate_step){.drift = true,
                                   .at = s.first,
                                   .first = s.first,
                                   .last = s.first + s.n - 1,
                                   .before = line.before,
                                   .after = line.after});
        return;
    }
    if (by_step > f->level || fabs(step.after - step.before) < told)
        return;
    step.first = s.first + s.n;
    for (size_t k = 2; k + 2 <= s.n; k++)
        if (split_squares(&s, k) <= least * (1 + NEAR / (double)s.n)) {
            step.first = s.first + k - 1 < step.first ? s.first + k - 1 : step.first;
            step.last = s.first + k;
        }
    find(f, (struct stretch){s.y, s.first, best});
    add(f, &step);
    find(f, (struct stretch){s.y + best, s.first + best, s.n - best});
}

size_t gate_steps(const double *y, size_t n, double level, double least, double samples, struct gate_step *out,
                  size_t most)
{
    /* Steps and lines share the level. */
    struct found f = {.out = out, .most = most, .level = level / 2, .least = least, .samples = samples};

    find(&f, (struct stretch){y, 0, n});
    return f.len;
}

double gate_steps_squares(size_t n, double least)
{
    /* A step that leaves two values on one side, and a line from one end to the other; the others lie on it. */
    double step = n < STEPS_LEAST ? INFINITY : least * least * 2 * (double)(n - 2) / (double)n,
           line = least * least * (double)n / 12;

    return fmin(step, line);
}
