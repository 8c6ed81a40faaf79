/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of baselines, for their tests: a share of one run, what several runs have, an exact one; and what is said of
 * them. */
#ifndef HQ_TESTS_BASELINE_VALUES_H
#define HQ_TESTS_BASELINE_VALUES_H

#include "repl/baseline/baseline.h"
#include "common/mem.h"
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

/* Judges values against those of a baseline, at a level; *text is all that is said, a line each, which the caller
 * frees. */
static inline enum check_outcome judge_all(const struct baseline_value *before, size_t old_count,
                                           const struct baseline_value *now, size_t count, double alpha, char **text)
{
    AUTO(arena_deinit) struct arena arena = {0};
    struct baseline_query a = {.text = "q"}, b = {.text = "q"};
    struct check_lines lines = {0};
    AUTO_STR struct str all = {0};

    vec_append(&a.values, before, old_count);
    vec_append(&b.values, now, count);
    enum check_outcome outcome = baseline_judge(&a, &b, alpha, &arena, &lines, NULL);

    vec_foreach(line, &lines)
        str_addf(&all, "%s\n", *line);
    *text = xstrdup(str_cstr(&all));
    vec_deinit(&lines);
    vec_deinit(&a.values);
    vec_deinit(&b.values);
    return outcome;
}

#endif
