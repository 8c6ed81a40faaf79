/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folding (Servat, Llort, Huck, Giménez, Labarta, Unveiling internal evolution of parallel application computation
 * phases, ICPP 2011): the samples of many instances of one stretch of a program, each at its place within its instance,
 * taken together as if they were of one. A counter is known where it overflowed, so how far it has come at a place is
 * how many of all its samples lie before; the curve through these points is a smoothing spline (spline.h), its slope
 * times the mean speed of all instances is the rate. The band of a rate is what 95 of 100 samples of the instances
 * themselves (with replacement) give: bootstrap.
 *
 * Where a counter was read at every sample, and where an instance begins and ends, how far it had come is known at each
 * sample, as in the paper, and the curve goes through these points. How smooth it is, they tell themselves: of several
 * curves the one by which one half of the instances foretells the other best (two-fold cross-validation).
 */
#ifndef HQ_QUERY_FOLD_H
#define HQ_QUERY_FOLD_H

#include <stddef.h>
#include <stdint.h>

#define FOLD_NUGGET 1e-4 /* the reference's; spline.h says what it is here */

struct fold_event {
    double x;      /* place in the instance, 0 to 1 */
    double amount; /* what the counter has grown by since its sample before */
    uint32_t instance;
};

struct fold_instances {
    const double *length; /* [count] seconds */
    size_t count;
};

struct fold_point {
    double sum;       /* how far the mean instance has come */
    double rate;      /* per second; not below 0 */
    double low, high; /* of the rate; NaN where there is one instance only */
};

/*
 * The curve at the middles of `count` equal parts of `span` instances (1: of one; more, for two folds on one scale:
 * what is behind the end is NaN). Events are sorted in place. False: there are none. The same events give the same
 * numbers.
 */
int fold_curve(struct fold_event *events, size_t event_count, struct fold_instances instances,
               struct fold_point *points, size_t count, double span);

/*
 * Like fold_curve, where a counter was read: `amount` of an event is the part of its instance's total that was reached
 * there, 0 to 1, and totals [instances.count] has each instance's count at its end. An instance whose total is 0 has no
 * events. *far (unless NULL) becomes how many events have no say: where at most one in fifty is more than twenty times
 * as far from the curve as the median one (and 0.02), something held these few instances up, and least squares would
 * follow them.
 */
int fold_counted(struct fold_event *events, size_t event_count, struct fold_instances instances, const double *totals,
                 struct fold_point *points, size_t count, double span, size_t *far);

/* Chooses the instances that are alike enough: keep[i] = 1 where the length is within two standard deviations of the
 * mean, or (mad) within two median absolute deviations of the median. Returns how many. */
size_t fold_alike(const double *lengths, size_t count, int mad, uint8_t *keep);

/* For bootstrap: so many draws are worth their time with so many events; and how often each of `count` instances is in
 * draw `round` of them, with replacement. The same round gives the same draw. */
size_t fold_draws(size_t events);
void fold_draw_instances(uint32_t *times, size_t count, uint64_t round);
/* Half of what 95 of 100 lie in, of a spread that so many draws tell: Student's t. */
double fold_half_width(double variance, size_t draws);

#endif
