/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/folding/fold.h"
#include "common/hash.h"
#include "common/mem.h"
#include "query/folding/spline.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS_MOST = 200, DRAWS_LEAST = 60, DRAWN_EVENTS = 4000000 };

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
    struct spline_point *scratch; /* [event_count + 2] */
};

/* Each instance counts `times` (NULL: once). False: no event is left. */
static int fit(const struct folding *f, const uint32_t *times, double *sum, double *rate)
{
    double all = 0, seconds = 0, drawn = 0, come = 0, slope;
    struct spline spline;
    size_t n = 0, at = 0;

    for (size_t i = 0; i < f->instances.count; i++) {
        seconds += f->instances.length[i] * (times ? times[i] : 1);
        drawn += times ? times[i] : 1;
    }
    for (size_t i = 0; i < f->event_count; i++)
        all += f->events[i].amount * (times ? times[f->events[i].instance] : 1);
    if (!(all > 0) || !(seconds > 0))
        return 0;
    f->scratch[n++] = (struct spline_point){0, 0, 1};
    for (size_t i = 0; i < f->event_count; i++) {
        double weight = times ? times[f->events[i].instance] : 1, amount = f->events[i].amount * weight;

        f->scratch[n++] = (struct spline_point){f->events[i].x, (come + amount / 2) / all, weight};
        come += amount;
    }
    f->scratch[n++] = (struct spline_point){1, 1, 1};
    spline_fit(f->scratch, n, FOLD_NUGGET / 12, &spline);
    for (size_t i = 0; i < f->count; i++) {
        double value = fmin(fmax(spline_at(&spline, ((double)i + 0.5) * f->step, &at, &slope), 0), 1);

        if (sum) /* a counter does not go back */
            sum[i] = fmax(value * all / drawn, i ? sum[i - 1] : 0);
        rate[i] = slope > 0 ? slope * all / seconds : 0;
    }
    spline_deinit(&spline);
    return 1;
}

/* Instances with replacement, the same ones each time. */
static void draw(uint32_t *times, size_t count, uint64_t round)
{
    memset(times, 0, count * sizeof *times);
    for (size_t i = 0; i < count; i++)
        times[hash_combine(hash_u64(round), i) % count]++;
}

static size_t draws_for(size_t events)
{
    size_t n = DRAWN_EVENTS / (events + 1);

    return n > DRAWS_MOST ? DRAWS_MOST : n < DRAWS_LEAST ? DRAWS_LEAST : n;
}

static double percentile(const double *sorted, size_t n, double share)
{
    double at = share * (double)(n - 1);
    size_t i = (size_t)at;

    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[i];
}

static void find_band(const struct folding *f, struct fold_point *points)
{
    size_t draws = draws_for(f->event_count), n = 0;
    AUTO_FREE double *rates = xcalloc(draws * f->count + 1, sizeof *rates);
    AUTO_FREE double *one = xcalloc(draws + 1, sizeof *one);
    AUTO_FREE uint32_t *times = xcalloc(f->instances.count + 1, sizeof *times);

    for (size_t d = 0; d < draws; d++) {
        draw(times, f->instances.count, d);
        n += (size_t)fit(f, times, NULL, rates + n * f->count);
    }
    for (size_t i = 0; i < f->count && n; i++) {
        for (size_t d = 0; d < n; d++)
            one[d] = rates[d * f->count + i];
        qsort(one, n, sizeof *one, compare_doubles);
        points[i].low = percentile(one, n, 0.025);
        points[i].high = percentile(one, n, 0.975);
    }
}

int fold_curve(struct fold_event *events, size_t event_count, struct fold_instances instances,
               struct fold_point *points, size_t count, double span)
{
    AUTO_FREE struct spline_point *scratch = xcalloc(event_count + 2, sizeof *scratch);
    AUTO_FREE double *sum = xcalloc(count + 1, sizeof *sum), *rate = xcalloc(count + 1, sizeof *rate);
    double step = span / (double)count;
    size_t within = span > 1 ? (size_t)ceil(1 / step - 0.5) : count;
    struct folding f = {events, event_count, within < count ? within : count, step, instances, scratch};

    if (event_count)
        qsort(events, event_count, sizeof *events, compare_events);
    if (!fit(&f, NULL, sum, rate))
        return 0;
    for (size_t i = 0; i < count; i++)
        points[i] = i < f.count ? (struct fold_point){sum[i], rate[i], NAN, NAN}
                                : (struct fold_point){NAN, NAN, NAN, NAN};
    if (instances.count > 1)
        find_band(&f, points);
    return 1;
}

static double median_of(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_doubles);
    return (values[n / 2] + values[(n - 1) / 2]) / 2;
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
