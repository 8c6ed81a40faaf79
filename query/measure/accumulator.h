/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A statistic (min, mean, stddev, p90 ...) of numbers that come one after the other. Memory does not grow with them but
 * for percentiles, which keep them all. Pure: nothing here knows of profiles.
 *
 *     struct accumulator a = {0};            for percentiles: .values = room for every number, the caller's
 *     accumulate(&a, x); ...                 NaN, a blank, does not count
 *     double y = accumulator_value(&a, f);
 */
#ifndef HQ_QUERY_MEASURE_ACCUMULATOR_H
#define HQ_QUERY_MEASURE_ACCUMULATOR_H

#include "query/grammar/ast.h"

struct accumulator {
    uint64_t n, nonzero;
    double origin, sum, squares; /* of deviations from the first value, which keeps small differences of large values */
    double min, max;
    double *values; /* of all, for percentiles, which need nothing else; NULL */
};

/* Adds a value; NaN does not count. */
void accumulate(struct accumulator *a, double x);

/* The statistic of one argument; NaN if nothing counted, or if `f` is none. Sorts the values of a percentile. */
double accumulator_value(struct accumulator *a, enum function f);

/* True for p50, p90 and p99, which need all values at once. */
bool is_percentile(enum function f);

#endif
