/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of baselines, for their tests: a share of one run, what several runs have, an exact one. */
#ifndef HQ_TESTS_BASELINE_VALUES_H
#define HQ_TESTS_BASELINE_VALUES_H

#include "repl/baseline.h"
#include <math.h>

static inline struct baseline_value share(const char *path, double x, double samples)
{
    return (struct baseline_value){
        .metric = "cputime.x", .path = path, .share = x, .samples = samples, .tolerance = 0.2};
}

static inline struct baseline_value runs(const char *path, double x, double sd, unsigned n)
{
    return (struct baseline_value){.metric = "cputime",
                                   .path = path,
                                   .share = x,
                                   .share_sd = sd,
                                   .samples = 100000,
                                   .runs = n,
                                   .value = 4 * x,
                                   .value_sd = 4 * sd,
                                   .dim = DIM_SECONDS,
                                   .tolerance = 0.1};
}

static inline struct baseline_value exact(const char *path, double x)
{
    return (struct baseline_value){.metric = "alloc_bytes",
                                   .path = path,
                                   .absolute = true,
                                   .share = 0.5,
                                   .samples = INFINITY,
                                   .value = x,
                                   .dim = DIM_BYTES,
                                   .tolerance = 0.005};
}

#endif
