/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 95 % intervals. A sampled value of n samples has a relative error of 1/sqrt(n) (counts); a share k of n is taken
 * after Wilson (Probable inference, the law of succession, and statistical inference, JASA 1927); everything else by
 * the delta method, with the derivative along each metric taken over a small step to either side. Whether the interval
 * of a share holds a bound is asked the other way round, as Wilson has it: whether a share on the bound would give what
 * was found; so it is right for no sample of n, too. Exact metrics add no uncertainty; where sample counts are not
 * known nothing is. Where samples weigh differently, n is the number of equal ones that would have the same variance:
 * the sum by the mean weight, weighed by itself.
 */
#include "query/measure/interval.h"
#include <math.h>

#define Z    1.959963984540054
#define STEP 1e-4 /* standard deviations */

struct deviations {
    struct run *run;
    const struct entry *entry;
    double *sd; /* [2 * measures], NaN unknown */
    uint8_t *seen;
};

static int64_t samples_of(struct run *run, const struct entry *e, unsigned slot)
{
    node_ranges(run->tree, &e->node, slot % 2, &run->ranges);
    return ranges_sum(&run->ranges, run->selection.measures.data[slot / 2].counts);
}

/* Like samples_of, in samples of equal weight. */
static double equal_samples_of(struct run *run, const struct entry *e, unsigned slot)
{
    const struct measure *m = &run->selection.measures.data[slot / 2];
    int64_t count = samples_of(run, e, slot);

    return m->weight > 0 ? measure_samples(m, count, e->slots[slot] / m->scale / m->factor) : (double)count;
}

/* One standard deviation of a measured value. Without a sample, that of one sample. */
static double slot_deviation(struct run *run, const struct entry *e, unsigned slot)
{
    const struct measure *m = &run->selection.measures.data[slot / 2];
    double n;

    if (m->flags & HQDB_METRIC_EXACT)
        return 0;
    if (m->side == SIDE_DELTA) {
        double here = m->here_measure == SIZE_MAX ? 0
                                                  : slot_deviation(run, e, (unsigned)(2 * m->here_measure + slot % 2));
        double old = m->old_measure == SIZE_MAX ? 0 : slot_deviation(run, e, (unsigned)(2 * m->old_measure + slot % 2));

        return sqrt(here * here + old * old);
    }
    if ((m->flags & HQDB_METRIC_NO_COUNTS) || !m->counts)
        return NAN;
    n = equal_samples_of(run, e, slot);
    if (n <= 0 && m->flags & HQDB_METRIC_WEIGHED && m->total_count > 0)
        return scaled_value(m->total, m->scale) * m->factor / (double)m->total_count;
    if (n <= 0)
        return m->period ? (double)m->period * m->scale * m->factor : NAN;
    return fabs(e->slots[slot]) / sqrt(n);
}

static void note_slot(void *arg, unsigned slot)
{
    struct deviations *d = arg;

    if (!d->seen[slot]) {
        d->seen[slot] = 1;
        d->sd[slot] = slot_deviation(d->run, d->entry, slot);
    }
}

static double delta_method(struct run *run, const struct entry *e, const struct program *p, const struct deviations *d)
{
    size_t n = 2 * run->selection.measures.len;
    AUTO_FREE double *slots = xmalloc((n + 1) * sizeof *slots);
    struct point at = entry_point(run, e, NULL);
    double variance = 0;

    memcpy(slots, e->slots, n * sizeof *slots);
    at.slots = slots;
    for (size_t s = 0; s < n; s++) {
        if (!d->seen[s] || d->sd[s] == 0)
            continue;
        slots[s] = e->slots[s] + STEP * d->sd[s];
        double up = program_number(p, &at);
        slots[s] = e->slots[s] - STEP * d->sd[s];
        double down = program_number(p, &at), change = (up - down) / (2 * STEP);

        slots[s] = e->slots[s];
        variance += change * change;
    }
    return Z * sqrt(variance);
}

/* Half width of the interval of a share k of n. */
static double wilson(double k, double n)
{
    double share = k / n, z2 = Z * Z;

    return Z / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n));
}

/* True for METRIC / @METRIC and METRIC against a share of its own total. */
static bool is_share(const struct program *p, const struct program **slot, double *unit, const struct run *run)
{
    const struct program *total;

    if (p->kind != PROGRAM_BINARY || (p->op != OP_DIV && p->op != OP_SUB) || p->args[0]->kind != PROGRAM_SLOT)
        return false;
    total = p->args[1];
    if (total->kind != (p->op == OP_DIV ? PROGRAM_TOTAL : PROGRAM_SHARE) || total->args[0]->kind != PROGRAM_SLOT ||
        total->args[0]->slot / 2 != p->args[0]->slot / 2)
        return false;
    *slot = p->args[0];
    *unit = p->op == OP_DIV ? 1 : run->totals[p->args[0]->slot & ~1u];
    return run->selection.measures.data[p->args[0]->slot / 2].side == SIDE_HERE;
}

/* How many of the n samples that a share is of have it, so that what is said of it holds the share itself: where
 * samples weigh differently their number may be another. */
static double samples_with(const struct run *run, const struct entry *e, const struct program *slot, double n)
{
    const struct measure *m = &run->selection.measures.data[slot->slot / 2];
    double share = e->slots[slot->slot] / (scaled_value(m->total, m->scale) * m->factor);

    return isfinite(share) ? n * fmin(fmax(share, 0), 1) : 0;
}

/* The samples that a share is of; 0: it is none, or they are not known. */
static double share_samples(const struct run *run, const struct program *p, const struct program **slot, double *unit)
{
    if (!is_share(p, slot, unit, run))
        return 0;
    const struct measure *m = &run->selection.measures.data[(*slot)->slot / 2];
    bool counted = !(m->flags & (HQDB_METRIC_EXACT | HQDB_METRIC_NO_COUNTS)) && m->counts && m->total_count > 0;

    return counted ? measure_samples(m, m->total_count, (double)m->total) : 0;
}

double interval_at_bound(struct run *run, const struct entry *e, const struct program *p, double difference)
{
    const struct program *slot;
    double unit, samples = p->op == OP_SUB ? share_samples(run, p, &slot, &unit) : 0;
    double bound = samples > 0 ? (e->slots[slot->slot] - difference) / unit : 0;

    if (bound <= 0 || bound >= 1)
        return interval_half_width(run, e, p);
    return Z * unit * sqrt(bound * (1 - bound) / samples);
}

double interval_half_width(struct run *run, const struct entry *e, const struct program *p)
{
    size_t n = 2 * run->selection.measures.len;
    const struct program *slot;
    double unit, samples;

    if (p->is_text)
        return NAN;
    if (p->constant)
        return 0;
    samples = share_samples(run, p, &slot, &unit);
    if (samples > 0)
        return unit * wilson(samples_with(run, e, slot, samples), samples);
    AUTO_FREE double *sd = xcalloc(n + 1, sizeof *sd);
    AUTO_FREE uint8_t *seen = xcalloc(n + 1, 1);
    struct deviations d = {run, e, sd, seen};

    program_slots(p, note_slot, &d);
    return delta_method(run, e, p, &d);
}

bool interval_ends(struct run *run, struct entry *e, const struct program *difference, double value, double *low,
                   double *high)
{
    const struct program *slot;
    double unit, n = share_samples(run, difference, &slot, &unit), half = interval_half_width(run, e, difference);

    if (!(half > 0) || !isfinite(half))
        return false;
    double centre = n > 0 ? unit * (samples_with(run, e, slot, n) + Z * Z / 2) / (n + Z * Z) : value;

    *low = centre - half;
    *high = centre + half;
    return true;
}
