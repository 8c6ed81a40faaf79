/* SPDX-License-Identifier: BSD-3-Clause */
/* Rises above a baseline in words (baseline.h). */
#include "repl/baseline/baseline.h"
#include <math.h>

const char *baseline_times(struct arena *arena, const struct baseline_value *old, const struct baseline_value *now)
{
    char from[UNITS_TEXT], to[UNITS_TEXT];

    if (old->absolute || old->runs < 2 || old->value <= 0)
        return "";
    units_format(from, old->value, old->dim);
    units_format(to, now->value, now->dim);
    return arena_printf(arena, " (%s -> %s)", from, to);
}

double baseline_percent(const struct baseline_value *old, double rise)
{
    return old->absolute && old->value > 0 ? 100 * rise / old->value : 100 * rise;
}

const char *baseline_points(struct arena *arena, const struct baseline_value *old, double rise)
{
    return old->absolute && old->value > 0 ? arena_printf(arena, "%.3g%%", baseline_percent(old, rise))
                                           : arena_printf(arena, "%.1f points", baseline_percent(old, rise));
}

const char *baseline_rise_text(struct arena *arena, const struct baseline_value *old, const struct gate_difference *d)
{
    double half = gate_interval(d);

    if (!(half > 0) || !isfinite(half))
        return arena_printf(arena, "%s%s", d->rise < 0 ? "" : "+", baseline_points(arena, old, d->rise));
    return arena_printf(arena, "%s%s [%+.1f, %+.1f]", d->rise < 0 ? "" : "+", baseline_points(arena, old, d->rise),
                        baseline_percent(old, d->rise - half), baseline_percent(old, d->rise + half));
}
