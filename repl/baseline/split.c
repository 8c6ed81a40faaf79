/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits what computes from what is in the system or waits (baseline.h). */
#include "repl/baseline/baseline.h"
#include <math.h>
#include <string.h>

/* Of one metric; all of them: NULL. */
static double system_of(const struct baseline_query *groups, const char *metric)
{
    static const char *const names[] = {"group I/O", "group kernel", "group MPI", "group OpenMP"};
    double most = 0;

    vec_foreach(of, &groups->values) {
        size_t n = baseline_metric_length(of->metric);
        double sum = 0;

        /* Of the exclusive values, which add up to the whole. */
        if (!isfinite(of->samples) || n == strlen(of->metric))
            continue;
        if (metric && (n != baseline_metric_length(metric) || strncmp(of->metric, metric, n)))
            continue;
        vec_foreach(v, &groups->values)
            for (size_t i = 0; !strcmp(v->metric, of->metric) && i < sizeof names / sizeof *names; i++)
                sum += !strcmp(v->path, names[i]) ? v->share : 0;
        most = fmax(most, sum);
    }
    return fmin(1, most);
}

double baseline_system(const struct baseline_query *groups)
{
    return system_of(groups, NULL);
}

static const char suffix[] = ".system";

bool baseline_is_system(const char *metric)
{
    size_t n = baseline_metric_length(metric), m = sizeof suffix - 1;

    return n > m && !strncmp(metric + n - m, suffix, m);
}

/* cputime.x -> cputime.system.x */
static const char *system_metric(struct arena *arena, const char *metric)
{
    int n = (int)baseline_metric_length(metric);

    return arena_printf(arena, "%.*s%s%s", n, metric, suffix, metric + n);
}

void baseline_split(struct arena *arena, struct baseline_query *q, const struct baseline_query *system,
                    const struct baseline_query *groups, double least)
{
    AUTO(row_names_deinit) struct row_names names = {0};
    struct baseline_query out = {0};

    baseline_value_names(system, &names);
    vec_foreach(v, &q->values) {
        const struct baseline_value *in = baseline_value_find(system, &names, v->metric, v->path);
        struct baseline_value rest = *v;
        double computes = 1 - system_of(groups, v->metric);

        if (isfinite(v->samples)) {
            rest.share = computes > 0 ? (v->share - (in ? in->share : 0)) / computes : 0;
            rest.value = v->value - (in ? in->value : 0);
            rest.samples = v->samples * computes;
        } else {
            in = NULL;
        }
        /* Of a row that is all in the system nothing but rounding is left. */
        if (rest.share >= fmax(least, 1e-9))
            vec_push(&out.values, rest);
        if (in && in->share >= least) {
            vec_push(&out.values, *in);
            vec_last(&out.values).metric = system_metric(arena, v->metric);
            vec_last(&out.values).samples = v->samples;
            vec_last(&out.values).outside = v->outside;
        }
    }
    vec_deinit(&q->values);
    q->values = out.values;
    q->computes = true;
    q->system = system_of(groups, NULL);
}
