/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The natural cubic smoothing spline: of all curves the one that minimises
 *
 *     sum of weight * (y - g(x))^2  +  lambda * integral of g''^2
 *
 * in O(n), by the algorithm of Reinsch (Smoothing by spline functions, Numerische Mathematik 10, 1967), as Green and
 * Silverman (Nonparametric Regression and Generalized Linear Models, 1994, section 2.3.3) have it. Kriging with the
 * covariance |h|^3, a linear drift and a nugget on each point is the same curve with lambda = nugget / 12.
 */
#ifndef HQ_QUERY_SPLINE_H
#define HQ_QUERY_SPLINE_H

#include <stddef.h>

/* Points nearer than this are one, of their mean: what lies so close has no slope that doubles could tell. */
#define SPLINE_NEAR (1.0 / 65536)

struct spline_point {
    double x, y, weight;
};

struct spline {
    size_t n;
    double *x, *value, *second; /* [n] of the knots: place, value, second derivative, which is 0 at both ends */
};

/*
 * Fits a curve to points that ascend by x, which are changed: those that are near are put together. At least two must
 * be left, apart and of positive weight. spline_deinit frees what it holds.
 */
void spline_fit(struct spline_point *points, size_t count, double lambda, struct spline *out);
void spline_deinit(struct spline *s);

/* Value and slope at x; beyond the ends the curve is a line. Ascending x are fast: *at, 0 at first, is where to look.
 */
double spline_at(const struct spline *s, double x, size_t *at, double *slope);

#endif
