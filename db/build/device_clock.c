/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/build/device_clock.h"

#include "common/mem.h"

#include <math.h>
#include <stdbool.h>

/* No clock is off by more than 2 of 1000. The slope is found to 1e-15, which is less than 0.01 ns in an hour. */
#define STEEPEST 2e-3
enum { STEPS = 80, KEPT = 4096 };

static void origin(struct device_clock *c, uint64_t host, uint64_t device)
{
    if (c->low.len || c->read_low.len)
        return;
    c->host = host;
    c->device = device;
}

void device_clock_pair(struct device_clock *c, uint64_t before, uint64_t after, uint64_t device)
{
    origin(c, before, device);
    double at = (double)(int64_t)(device - c->device);

    vec_push(&c->read_low, (struct device_bound){at, (double)(int64_t)(before - c->host) - at});
    vec_push(&c->read_high, (struct device_bound){at, (double)(int64_t)(after - c->host) - at});
}

void device_clock_bound(struct device_clock *c, uint64_t called, uint64_t returned, uint64_t queued, uint64_t end,
                        uint64_t seen)
{
    origin(c, called, queued);
    double q = (double)(int64_t)(queued - c->device), e = (double)(int64_t)(end - c->device);

    vec_push(&c->low, (struct device_bound){q, (double)(int64_t)(called - c->host) - q});
    vec_push(&c->high, (struct device_bound){q, (double)(int64_t)(returned - c->host) - q});
    vec_push(&c->high, (struct device_bound){e, (double)(int64_t)(seen - c->host) - e});
}

/* Sets the span of time from the first instant of which there is a bound to the last. */
static void find_span(struct device_clock *c)
{
    c->first = INFINITY;
    c->last = -INFINITY;
    vec_foreach(b, &c->low) {
        c->first = fmin(c->first, b->at);
        c->last = fmax(c->last, b->at);
    }
    vec_foreach(b, &c->high) {
        c->first = fmin(c->first, b->at);
        c->last = fmax(c->last, b->at);
    }
}

/* Keeps the tightest bound of each part of the time: the others say nothing more, or hardly. */
static void thin(struct device_clock *c, struct device_bound *bounds, size_t *len, double sign)
{
    double span = c->last - c->first;
    size_t n = *len, kept = 0;

    if (n <= KEPT || !(span > 0))
        return;
    AUTO_FREE struct device_bound *best = xcalloc(KEPT, sizeof *best);
    AUTO_FREE bool *used = xcalloc(KEPT, sizeof *used);

    for (size_t i = 0; i < n; i++) {
        size_t part = (size_t)fmin((bounds[i].at - c->first) / span * KEPT, KEPT - 1);

        if (!used[part] || sign * bounds[i].difference > sign * best[part].difference)
            best[part] = bounds[i];
        used[part] = true;
    }
    for (size_t i = 0; i < KEPT; i++)
        if (used[i])
            bounds[kept++] = best[i];
    *len = kept;
}

/* With a slope, the highest of the lower bounds and the lowest of the upper ones, at 0. */
static void between(const struct device_clock *c, double slope, double *low, double *high)
{
    *low = -INFINITY;
    *high = INFINITY;
    for (size_t i = 0; i < c->low.len; i++)
        *low = fmax(*low, c->low.data[i].difference - slope * c->low.data[i].at);
    for (size_t i = 0; i < c->high.len; i++)
        *high = fmin(*high, c->high.data[i].difference - slope * c->high.data[i].at);
}

static double width(const struct device_clock *c, double slope)
{
    double low, high;

    between(c, slope, &low, &high);
    return high - low;
}

/* The width is concave in the slope. */
static double widest(const struct device_clock *c)
{
    double a = -STEEPEST, b = STEEPEST;

    for (int i = 0; i < STEPS; i++) {
        double one = a + (b - a) / 3, two = b - (b - a) / 3;

        if (width(c, one) < width(c, two))
            a = one;
        else
            b = two;
    }
    return (a + b) / 2;
}

/* The last slope on the way from one that is possible to one that need not be. */
static double last_possible(const struct device_clock *c, double from, double to)
{
    if (width(c, to) >= 0)
        return to;
    for (int i = 0; i < STEPS; i++) {
        double middle = (from + to) / 2;

        *(width(c, middle) >= 0 ? &from : &to) = middle;
    }
    return from;
}

/* How far from the line another one that keeps all bounds can be at an instant: it is looked for among slopes. */
static double uncertain_at(const struct device_clock *c, double at, double least, double most)
{
    enum { LOOKS = 64 };
    double here = c->offset + c->slope * at, worst = 0;

    for (int i = 0; i <= LOOKS; i++) {
        double slope = least + (most - least) * i / LOOKS, low, high;

        between(c, slope, &low, &high);
        worst = fmax(worst, fmax(high + slope * at - here, here - low - slope * at));
    }
    return worst;
}

static void find_line(struct device_clock *c, double *low, double *high)
{
    find_span(c);
    c->slope = widest(c);
    between(c, c->slope, low, high);
    c->offset = (*low + *high) / 2;
}

static void add_readings(struct device_clock *c)
{
    vec_foreach(b, &c->read_low)
        vec_push(&c->low, *b);
    vec_foreach(b, &c->read_high)
        vec_push(&c->high, *b);
}

void device_clock_fit(struct device_clock *c)
{
    size_t lows, highs;
    double low, high;

    find_span(c);
    thin(c, c->low.data, &c->low.len, 1);
    thin(c, c->high.data, &c->high.len, -1);
    lows = c->low.len;
    highs = c->high.len;
    add_readings(c);
    if (!c->low.len)
        return;
    find_line(c, &low, &high);
    if (high < low && lows) { /* what was read is not the clock of the commands' times */
        c->low.len = lows;
        c->high.len = highs;
        find_line(c, &low, &high);
    }
    if (high < low) {
        c->error = (low - high) / 2;
        return;
    }
    double least = last_possible(c, c->slope, -STEEPEST), most = last_possible(c, c->slope, STEEPEST);

    c->error = fmax(uncertain_at(c, c->first, least, most), uncertain_at(c, c->last, least, most));
}

uint64_t device_clock_host(const struct device_clock *c, uint64_t device_ns)
{
    int64_t since = (int64_t)(device_ns - c->device);

    return c->host + (uint64_t)since + (uint64_t)llround(c->offset + c->slope * (double)since);
}

void device_clock_deinit(struct device_clock *c)
{
    vec_deinit(&c->low);
    vec_deinit(&c->high);
    vec_deinit(&c->read_low);
    vec_deinit(&c->read_high);
}
