/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/folding/routines.h"
#include "common/map.h"
#include "common/mem.h"
#include "query/folding/fold.h"
#include <math.h>
#include <stdlib.h>

struct looking {
    const struct routine_sample *samples;
    size_t count;
    struct routine_limits limits;
    struct routine_runs *out;
};

static uint32_t at_level(const struct looking *l, uint32_t i, uint32_t level)
{
    return level < l->samples[i].depth ? l->samples[i].levels[level] : ROUTINE_NONE;
}

/* Where one sample ends and the next begins. */
static double border(const struct looking *l, uint32_t i)
{
    return !i ? 0 : i >= l->count ? 1 : (l->samples[i - 1].x + l->samples[i].x) / 2;
}

static bool is_long(const struct looking *l, uint32_t first, uint32_t end)
{
    return end - first >= l->limits.samples && border(l, end) - border(l, first) >= l->limits.share;
}

/* The routines of one level, as numbers from 0. */
struct level {
    uint32_t *number; /* [end - first] */
    VEC(uint32_t) routines;
};

static void read_level(const struct looking *l, uint32_t first, uint32_t end, uint32_t level, struct level *out)
{
    struct map numbers = {0};
    bool is_new;

    out->number = xmalloc((end - first + 1) * sizeof *out->number);
    for (uint32_t i = first; i < end; i++) {
        uint32_t routine = at_level(l, i, level);

        out->number[i - first] = (uint32_t)*map_insert(&numbers, routine, out->routines.len, &is_new);
        if (is_new)
            vec_push(&out->routines, routine);
    }
    map_deinit(&numbers);
}

/* The number that most have; `own` if none has more than that. */
static uint32_t most_of(const uint32_t *counts, size_t n, uint32_t own)
{
    uint32_t best = own;

    for (uint32_t k = 0; k < n; k++)
        best = counts[k] > counts[best] ? k : best;
    return best;
}

/*
 * Gives each sample the label that most of the samples around it have: those nearer than half of the shortest run, and
 * at least as many as that has. Where visits do not keep in step (a machine that is busy elsewhere), the samples of two
 * routines are mixed, and the first of one is no sign that the other is over. A border without a mixture stays where it
 * is.
 */
static uint32_t *smooth(const struct looking *l, uint32_t first, uint32_t end, uint32_t level)
{
    uint32_t *label = xmalloc((end - first + 1) * sizeof *label), low = first, high = first;
    double reach = l->limits.share / 2;
    struct level here = {0};

    read_level(l, first, end, level, &here);
    AUTO_FREE uint32_t *counts = xcalloc(here.routines.len + 1, sizeof *counts);
    for (uint32_t i = first; i < end; i++) {
        uint32_t beside = l->limits.samples / 2;

        while (high < end && (high <= i + beside || l->samples[high].x < l->samples[i].x + reach))
            counts[here.number[high++ - first]]++;
        while (low + beside < i && l->samples[low].x < l->samples[i].x - reach)
            counts[here.number[low++ - first]]--;
        label[i - first] = here.routines.data[most_of(counts, here.routines.len, here.number[i - first])];
    }
    free(here.number);
    vec_deinit(&here.routines);
    return label;
}

static uint32_t *labels_of(const struct looking *l, uint32_t first, uint32_t end, uint32_t level)
{
    uint32_t *label;

    if (l->limits.join)
        return smooth(l, first, end, level);
    label = xmalloc((end - first + 1) * sizeof *label);
    for (uint32_t i = first; i < end; i++)
        label[i - first] = at_level(l, i, level);
    return label;
}

/* The end of the samples of the same routine. */
static uint32_t end_of_run(const uint32_t *label, uint32_t first, uint32_t end)
{
    uint32_t at = first;

    while (at < end && label[at] == label[first])
        at++;
    return at;
}

static bool is_short(const struct looking *l, uint32_t first, uint32_t end)
{
    return end - first < l->limits.samples && border(l, end) - border(l, first) < l->limits.share;
}

/* With join: where samples of the routine go on behind what is too short to tell. label: of the sample `base` on. */
static uint32_t end_joined(const struct looking *l, const uint32_t *label, uint32_t base, uint32_t first, uint32_t end)
{
    uint32_t last = base + end_of_run(label, first - base, end - base), at = last;

    while (l->limits.join && at < end && is_short(l, last, at)) {
        if (label[at - base] == label[first - base])
            at = last = base + end_of_run(label, at - base, end - base);
        else
            at++;
    }
    return last;
}

static void look(struct looking *l, uint32_t first, uint32_t end, uint32_t level, uint32_t parent)
{
    AUTO_FREE uint32_t *label = labels_of(l, first, end, level);

    for (uint32_t at = first; at < end;) {
        uint32_t last = end_joined(l, label, first, at, end), run;

        if (label[at - first] == ROUTINE_NONE || !is_long(l, at, last)) {
            at = first + end_of_run(label, at - first, end - first);
            continue;
        }
        run = (uint32_t)l->out->len;
        vec_push(l->out, (struct routine_run){.routine = label[at - first],
                                              .level = level,
                                              .first = at,
                                              .end = last,
                                              .from = border(l, at),
                                              .to = border(l, last),
                                              .parent = parent,
                                              .leaf = true,
                                              .sure = NAN});
        if (parent != UINT32_MAX)
            l->out->data[parent].leaf = false;
        look(l, at, last, level + 1, run);
        at = last;
    }
}

static double middle(const struct routine_run *r)
{
    return (r->from + r->to) / 2;
}

/*
 * Where visits do not keep in step, a border that half of them have passed is the median of theirs; their mean is how
 * long the first of the two routines is active between the middles of both. In a visit that takes longer than others
 * the same part is more time.
 */
static double mean_border(const struct looking *l, const struct routine_run *a, const struct routine_run *b)
{
    double from = middle(a), to = middle(b), first = 0, both = 0;

    for (uint32_t i = a->first; i < b->end; i++) {
        uint32_t routine = at_level(l, i, a->level);
        double part = fmin(border(l, i + 1), to) - fmax(border(l, i), from);

        if (part <= 0 || (routine != a->routine && routine != b->routine))
            continue;
        both += part * l->samples[i].length;
        first += routine == a->routine ? part * l->samples[i].length : 0;
    }
    return both > 0 ? from + (to - from) * first / both : a->to;
}

static bool lies_in(const struct routine_runs *runs, uint32_t r, uint32_t outer)
{
    while (r != UINT32_MAX && r != outer)
        r = runs->data[r].parent;
    return r == outer;
}

/* Runs in the two that end, or begin, at their border move with it. */
static void move_border(struct routine_runs *runs, uint32_t a, uint32_t b, double to)
{
    double old = runs->data[a].to;

    for (uint32_t i = a; i < runs->len; i++) {
        if (lies_in(runs, i, a))
            runs->data[i].to = runs->data[i].to == old ? to : runs->data[i].to;
        else if (lies_in(runs, i, b))
            runs->data[i].from = runs->data[i].from == old ? to : runs->data[i].from;
    }
}

static void settle_borders(struct looking *l)
{
    for (uint32_t a = 0; a < l->out->len; a++) {
        uint32_t b = a + 1;

        while (b < l->out->len && lies_in(l->out, b, a))
            b++;
        if (b < l->out->len && l->out->data[b].parent == l->out->data[a].parent &&
            l->out->data[b].first == l->out->data[a].end)
            move_border(l->out, a, b, mean_border(l, &l->out->data[a], &l->out->data[b]));
    }
}

void routines_find(const struct routine_sample *samples, size_t count, struct routine_limits limits,
                   struct routine_runs *out)
{
    struct looking l = {samples, count, limits, out};

    look(&l, 0, (uint32_t)count, 0, UINT32_MAX);
    if (limits.join)
        settle_borders(&l);
}

/* ---- how sure ---- */

/* Returns the samples of the instances that were drawn, in the order of time. */
static struct routine_sample *drawn_samples(const struct routine_sample *samples, size_t count, const uint32_t *times,
                                            size_t *drawn)
{
    struct routine_sample *out;
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        n += times[samples[i].instance];
    out = xcalloc(n + 1, sizeof *out);
    *drawn = n;
    for (size_t i = count; i-- > 0;)
        for (uint32_t k = times[samples[i].instance]; k > 0; k--)
            out[--n] = samples[i];
    return out;
}

/* Whether two runs are of the same routines, from the outermost level on. */
static bool is_same_chain(const struct routine_runs *a, uint32_t x, const struct routine_runs *b, uint32_t y)
{
    while (x != UINT32_MAX && y != UINT32_MAX && a->data[x].routine == b->data[y].routine) {
        x = a->data[x].parent;
        y = b->data[y].parent;
    }
    return x == UINT32_MAX && y == UINT32_MAX;
}

/* Returns how long the run of a draw lasts that has most of its time where run r has it; NaN: there is none. */
static double length_in(const struct routine_runs *drawn, const struct routine_runs *runs, uint32_t r)
{
    const struct routine_run *run = &runs->data[r];
    double most = 0, length = NAN;

    for (uint32_t i = 0; i < drawn->len; i++) {
        const struct routine_run *d = &drawn->data[i];
        double common = fmin(d->to, run->to) - fmax(d->from, run->from);

        if (d->level == run->level && common > most && is_same_chain(drawn, i, runs, r)) {
            most = common;
            length = d->to - d->from;
        }
    }
    return length;
}

struct spread { /* of one run: how far off the draws are, which holds what draws differ by all alike, too */
    double squares;
    size_t found;
};

void routines_spread(const struct routine_sample *samples, size_t count, size_t instances, struct routine_limits limits,
                     struct routine_runs *runs)
{
    AUTO_FREE uint32_t *times = xcalloc(instances + 1, sizeof *times);
    AUTO_FREE struct spread *spread = xcalloc(runs->len + 1, sizeof *spread);
    size_t draws = instances > 1 ? fold_draws(count) : 0, n;

    for (size_t d = 0; d < draws; d++) {
        struct routine_runs drawn = {0};

        fold_draw_instances(times, instances, d);
        AUTO_FREE struct routine_sample *some = drawn_samples(samples, count, times, &n);
        routines_find(some, n, limits, &drawn);
        for (uint32_t r = 0; r < runs->len; r++) {
            double off = length_in(&drawn, runs, r) - (runs->data[r].to - runs->data[r].from);

            if (isnan(off))
                continue;
            spread[r].squares += off * off;
            spread[r].found++;
        }
        vec_deinit(&drawn);
    }
    for (uint32_t r = 0; r < runs->len; r++) {
        double found = (double)spread[r].found;

        runs->data[r].sure = found > 1 && found >= 0.9 * (double)draws
                                 ? fold_half_width(spread[r].squares / found, draws)
                                 : NAN;
    }
}
