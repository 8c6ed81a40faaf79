/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/folding/fold.h"
#include "common/hash.h"
#include "common/mem.h"
#include "query/folding/spline.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS_MOST = 200, DRAWS_LEAST = 60, DRAWN_EVENTS = 4000000, FAR_TIMES = 20, FAR_SHARE = 50, FAR_ROUNDS = 3 };
#define FAR_LEAST 0.02 /* of what the instance has in all: less does not bend a curve */

static int compare_events(const void *a, const void *b)
{
    const struct fold_event *x = a, *y = b;

    if (x->x != y->x)
        return x->x < y->x ? -1 : 1;
    return (x->instance > y->instance) - (x->instance < y->instance);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

struct folding {
    const struct fold_event *events;
    size_t event_count, count; /* points: those within the instance */
    double step;               /* from one to the next, 1 the whole instance */
    struct fold_instances instances;
    const double *totals;         /* of each instance, where a counter was read; NULL: it was not */
    double width;                 /* of the smoothing, in instances */
    uint8_t *far;                 /* [event_count] 1: it has no say */
    struct spline_point *scratch; /* [event_count + 2] */
};

static double times_of(const uint32_t *times, size_t instance)
{
    return times ? times[instance] : 1;
}

/* Returns the amount of all instances together. */
static double amount_of_all(const struct folding *f, const uint32_t *times)
{
    double all = 0;

    for (size_t i = 0; f->totals && i < f->instances.count; i++)
        all += f->totals[i] * times_of(times, i);
    for (size_t i = 0; !f->totals && i < f->event_count; i++)
        all += f->events[i].amount * times_of(times, f->events[i].instance);
    return all;
}

/* The points of the curve, from 0, 0 to 1, 1, each instance `times`; of a counter that was read, its ends too. */
static size_t place_points(const struct folding *f, const uint32_t *times, double all, double drawn)
{
    double come = 0, ends = f->totals ? drawn : 1;
    size_t n = 0;

    f->scratch[n++] = (struct spline_point){0, 0, ends};
    for (size_t i = 0; i < f->event_count; i++) {
        double weight = f->far[i] ? 0 : times_of(times, f->events[i].instance), amount = f->events[i].amount;

        if (!f->totals) {
            amount = (come + amount * weight / 2) / all;
            come += f->events[i].amount * weight;
        }
        f->scratch[n++] = (struct spline_point){f->events[i].x, amount, weight};
    }
    f->scratch[n++] = (struct spline_point){1, 1, ends};
    return n;
}

/* A spline of lambda = weight * width^4 looks as far as a kernel of that width (Silverman, Spline smoothing: the
 * equivalent variable kernel method, Annals of Statistics 12, 1984). */
static double lambda_of(const struct folding *f, size_t n)
{
    double weight = 0;

    if (!(f->width > 0))
        return FOLD_NUGGET / 12;
    for (size_t i = 0; i < n; i++)
        weight += f->scratch[i].weight;
    return weight * pow(f->width, 4);
}

/* Each instance counts `times` (NULL: once). False: no event is left. */
static int fit(const struct folding *f, const uint32_t *times, double *sum, double *rate)
{
    double all = amount_of_all(f, times), seconds = 0, drawn = 0, slope;
    struct spline spline;
    size_t n, at = 0;

    for (size_t i = 0; i < f->instances.count; i++) {
        seconds += f->instances.length[i] * times_of(times, i);
        drawn += times_of(times, i);
    }
    if (!(all > 0) || !(seconds > 0))
        return 0;
    n = place_points(f, times, all, drawn);
    spline_fit(f->scratch, n, lambda_of(f, n), &spline);
    for (size_t i = 0; i < f->count; i++) {
        double value = fmin(fmax(spline_at(&spline, ((double)i + 0.5) * f->step, &at, &slope), 0), 1);

        if (sum) /* a counter does not go back */
            sum[i] = fmax(value * all / drawn, i ? sum[i - 1] : 0);
        rate[i] = slope > 0 ? slope * all / seconds : 0;
    }
    spline_deinit(&spline);
    return 1;
}

/* How far off the other half of the instances is from the curve of one: not by squares, which the few instances would
 * have nearly all of in which something odd has happened. */
static double foretell(const struct folding *f, uint32_t *times, uint32_t half)
{
    struct spline spline;
    double off = 0, drawn = 0, slope;
    size_t n, at = 0;

    for (size_t i = 0; i < f->instances.count; i++)
        drawn += times[i] = i % 2 == half;
    n = place_points(f, times, 1, drawn);
    spline_fit(f->scratch, n, lambda_of(f, n), &spline);
    for (size_t i = 0; i < f->event_count; i++) {
        double miss = f->events[i].amount - spline_at(&spline, f->events[i].x, &at, &slope);

        off += times[f->events[i].instance] || f->far[i] ? 0 : fabs(miss);
    }
    spline_deinit(&spline);
    return off;
}

/* The width by which the halves foretell each other best. */
static double best_width(struct folding *f)
{
    static const double widths[] = {0.001, 0.0015, 0.002, 0.003, 0.004, 0.006, 0.008, 0.012, 0.016, 0.024, 0.032};
    AUTO_FREE uint32_t *times = xcalloc(f->instances.count + 1, sizeof *times);
    double best = 0.006, least = INFINITY;

    for (size_t i = 0; i < sizeof widths / sizeof *widths && f->instances.count > 1; i++) {
        f->width = widths[i];
        double off = foretell(f, times, 0) + foretell(f, times, 1);

        if (off < least) {
            least = off;
            best = widths[i];
        }
    }
    return best;
}

static double median_of(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_doubles);
    return (values[n / 2] + values[(n - 1) / 2]) / 2;
}

/* Events that are far from the curve lose their say and the curve is drawn anew, by which those that it took along come
 * back. If they are not few that is what instances are like. Returns how many have none. */
static size_t leave_out_far(struct folding *f)
{
    size_t n = f->event_count, far = 0;
    AUTO_FREE double *miss = xcalloc(2 * n + 1, sizeof *miss);

    for (int round = 0; round < FAR_ROUNDS && n; round++) {
        size_t points = place_points(f, NULL, 1, (double)f->instances.count), at = 0;
        struct spline spline;
        double slope;

        spline_fit(f->scratch, points, lambda_of(f, points), &spline);
        for (size_t i = 0; i < n; i++)
            miss[i] = miss[n + i] = fabs(f->events[i].amount - spline_at(&spline, f->events[i].x, &at, &slope));
        spline_deinit(&spline);
        double most = fmax(FAR_TIMES * median_of(miss + n, n), FAR_LEAST);

        far = 0;
        for (size_t i = 0; i < n; i++)
            far += f->far[i] = miss[i] > most;
        if (far * FAR_SHARE > n) {
            memset(f->far, 0, n);
            return 0;
        }
    }
    return far;
}

void fold_draw_instances(uint32_t *times, size_t count, uint64_t round)
{
    memset(times, 0, count * sizeof *times);
    for (size_t i = 0; i < count; i++)
        times[hash_combine(hash_u64(round), i) % count]++;
}

size_t fold_draws(size_t events)
{
    size_t n = DRAWN_EVENTS / (events + 1);

    return n > DRAWS_MOST ? DRAWS_MOST : n < DRAWS_LEAST ? DRAWS_LEAST : n;
}

double fold_half_width(double variance, size_t draws)
{
    return (1.96 + 2.5 / (double)draws) * sqrt(variance);
}

/* Estimates the error of the rates that smoothing itself makes near their changes: half of the difference that
 * smoothing half as much more makes. */
static double *smoothing_error(const struct folding *f, const struct fold_point *points)
{
    double *rate = xcalloc(f->count + 1, sizeof *rate);
    struct folding wider = *f;
    double weight = (double)f->event_count + 2 * (f->totals ? (double)f->instances.count : 1);

    wider.width = 1.5 * (f->width > 0 ? f->width : pow(FOLD_NUGGET / 12 / weight, 0.25));
    fit(&wider, NULL, NULL, rate);
    for (size_t i = 0; i < f->count; i++)
        rate[i] = (rate[i] - points[i].rate) / 2;
    return rate;
}

/* The band is as wide as the rates of the draws are spread: percentiles of so few would be too near to each other. */
static void find_band(const struct folding *f, struct fold_point *points)
{
    AUTO_FREE double *error = smoothing_error(f, points);
    size_t draws = fold_draws(f->event_count), n = 0;
    AUTO_FREE double *sum = xcalloc(f->count + 1, sizeof *sum), *squares = xcalloc(f->count + 1, sizeof *squares);
    AUTO_FREE double *rate = xcalloc(f->count + 1, sizeof *rate);
    AUTO_FREE uint32_t *times = xcalloc(f->instances.count + 1, sizeof *times);

    for (size_t d = 0; d < draws; d++) {
        fold_draw_instances(times, f->instances.count, d);
        if (!fit(f, times, NULL, rate))
            continue;
        n++;
        for (size_t i = 0; i < f->count; i++) {
            double off = rate[i] - points[i].rate;

            sum[i] += off;
            squares[i] += off * off;
        }
    }
    for (size_t i = 0; i < f->count && n > 1; i++) {
        double count = (double)n, spread = (squares[i] - sum[i] * sum[i] / count) / (count - 1);
        double half = fold_half_width(fmax(spread, 0) + error[i] * error[i], n);

        points[i].low = fmax(points[i].rate - half, 0);
        points[i].high = points[i].rate + half;
    }
}

int fold_counted(struct fold_event *events, size_t event_count, struct fold_instances instances, const double *totals,
                 struct fold_point *points, size_t count, double span, size_t *far)
{
    AUTO_FREE uint8_t *none = xcalloc(event_count + 1, 1);
    AUTO_FREE struct spline_point *scratch = xcalloc(event_count + 2, sizeof *scratch);
    AUTO_FREE double *sum = xcalloc(count + 1, sizeof *sum), *rate = xcalloc(count + 1, sizeof *rate);
    double step = span / (double)count;
    size_t within = span > 1 ? (size_t)ceil(1 / step - 0.5) : count;
    struct folding f = {events, event_count, within < count ? within : count, step, instances, totals, 0,
                        none,   scratch};

    if (event_count)
        qsort(events, event_count, sizeof *events, compare_events);
    if (totals)
        f.width = best_width(&f);
    size_t left = totals ? leave_out_far(&f) : 0;
    if (left)
        f.width = best_width(&f);
    if (far)
        *far = left;
    if (!fit(&f, NULL, sum, rate))
        return 0;
    for (size_t i = 0; i < count; i++)
        points[i] = i < f.count ? (struct fold_point){sum[i], rate[i], NAN, NAN}
                                : (struct fold_point){NAN, NAN, NAN, NAN};
    if (instances.count > 1)
        find_band(&f, points);
    return 1;
}

int fold_curve(struct fold_event *events, size_t event_count, struct fold_instances instances,
               struct fold_point *points, size_t count, double span)
{
    return fold_counted(events, event_count, instances, NULL, points, count, span, NULL);
}

size_t fold_alike(const double *lengths, size_t count, int mad, uint8_t *keep)
{
    AUTO_FREE double *scratch = xcalloc(count + 1, sizeof *scratch);
    double centre = 0, spread = 0;
    size_t kept = 0;

    if (mad && count) {
        memcpy(scratch, lengths, count * sizeof *scratch);
        centre = median_of(scratch, count);
        for (size_t i = 0; i < count; i++)
            scratch[i] = fabs(lengths[i] - centre);
        spread = median_of(scratch, count);
    } else {
        for (size_t i = 0; i < count; i++)
            centre += lengths[i] / (double)count;
        for (size_t i = 0; i < count; i++)
            spread += (lengths[i] - centre) * (lengths[i] - centre) / (double)count;
        spread = sqrt(spread);
    }
    /* Not what rounding makes of equal ones. */
    for (size_t i = 0; i < count; i++)
        kept += keep[i] = fabs(lengths[i] - centre) <= 2 * spread + 1e-9 * fabs(centre);
    return kept;
}
