/* SPDX-License-Identifier: BSD-3-Clause */
/* Did a program become slower in all of its parts alike, which no share tells (baseline.h)? */
#include "repl/baseline/baseline.h"
#include "repl/gate/quantile.h"
#include <math.h>
#include <string.h>

/* How often hours may seem to be a slowdown, if they differ as they are taken to. */
static const double by_hours = 0.05;

/* Deviation of hours in deviations of the runs of one. */
static const double between_hours = 1.0;

/* The seconds of a sampled metric, by the largest of its rows. */
static struct baseline_whole whole_of(const struct baseline_query *q, const char *metric)
{
    struct baseline_whole whole = {0};
    size_t n = strlen(metric);
    double share = 0;

    vec_foreach(v, &q->values) {
        if (v->dim != DIM_SECONDS || !isfinite(v->samples) || !(v->value > 0) || v->share <= share ||
            baseline_metric_length(v->metric) != n || strncmp(v->metric, metric, n))
            continue;
        share = v->share;
        whole = (struct baseline_whole){v->value / v->share, v->value_sd / v->value, baseline_runs(v)};
    }
    return whole;
}

double baseline_alike(const struct baseline_whole *old, const struct baseline_whole *now)
{
    double n = old->runs, m = now->runs, df = n + m - 2;
    double variance = df > 0 ? ((n - 1) * old->spread * old->spread + (m - 1) * now->spread * now->spread) / df : 0;
    double error = sqrt(variance * (1 / n + 1 / m + 2 * between_hours * between_hours));

    return df > 0 ? fmin(BASELINE_ALIKE_MOST, fmax(BASELINE_ALIKE_LEAST, student_above(by_hours, df) * error))
                  : BASELINE_ALIKE_MOST;
}

/* Time in the system may take twice as long; `system` is the part of it. */
static double allowed_of_all(double system)
{
    return fmin(BASELINE_ALIKE_MOST, (1 - system) * BASELINE_ALIKE_LEAST + system);
}

static enum check_outcome tell(const char *metric, const struct baseline_whole *old, const struct baseline_whole *now,
                               double allowed, enum baseline_elsewhere elsewhere, struct arena *arena,
                               struct check_lines *lines)
{
    double rise = now->seconds / old->seconds - 1;
    double percent = fabs(rise) < 0.0005 ? 0 : 100 * rise; /* no -0.0% */
    bool other = elsewhere == MACHINE_PROCESSOR || elsewhere == MACHINE_COUNT, much = rise > allowed && !other;
    char from[UNITS_TEXT], to[UNITS_TEXT];

    units_format(from, old->seconds, DIM_SECONDS);
    units_format(to, now->seconds, DIM_SECONDS);
    const char *change = arena_printf(arena, "%s -> %s in a run, %+.1f%%", from, to, percent);

    if (much)
        vec_push(lines, arena_printf(arena,
                                     "cannot tell: all %s: %s, where the runs and the hour explain %.0f%%. Shares do "
                                     "not tell what became slower in all its parts alike, nor seconds whether the "
                                     "machine did: race it (hq race), or write the baseline again if it is meant to "
                                     "run longer",
                                     metric, change, 100 * allowed));
    else
        vec_push(lines,
                 other
                     ? arena_printf(arena, "not judged are seconds, for the machine is another: all %s: %s (hq race)",
                                    metric, change)
                     : arena_printf(arena,
                                    "all %s: %s. What became slower in all its parts alike is seen from %+.0f%% on (hq "
                                    "race finds smaller ones)%s",
                                    metric, change, 100 * allowed,
                                    strcmp(metric, "cputime") ? "" : ", and what waits is not (-e REALTIME)"));
    return much ? CHECK_INCONCLUSIVE : CHECK_PASS;
}

enum check_outcome baseline_seconds(const struct baseline_query *before, const struct baseline_query *now,
                                    struct arena *arena, struct check_lines *lines)
{
    AUTO(row_names_deinit) struct row_names told = {0};
    enum check_outcome outcome = CHECK_PASS;

    vec_foreach(v, &now->values) {
        const char *metric = arena_strndup(arena, v->metric, baseline_metric_length(v->metric));
        bool is_new;

        row_names_add(&told, metric, "", &is_new);
        if (!is_new)
            continue;
        struct baseline_whole old = whole_of(before, metric), here = whole_of(now, metric);
        /* The shares of time in the system are of all, those of the others of what computes. */
        bool all = baseline_is_system(metric);
        double allowed = all ? allowed_of_all(now->system_before) : baseline_alike(&old, &here);
        const char *name = all ? arena_strndup(arena, metric, strlen(metric) - strlen(".system"))
                           : now->computes && isfinite(v->samples) ? arena_printf(arena, "%s that computes", metric)
                                                                   : metric;

        if (old.seconds > 0 && here.seconds > 0 &&
            tell(name, &old, &here, allowed, now->elsewhere, arena, lines) == CHECK_INCONCLUSIVE)
            outcome = CHECK_INCONCLUSIVE;
    }
    return outcome;
}
