/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/folding/routines.h"
#include "common/map.h"
#include "common/mem.h"
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
                                              .leaf = true});
        if (parent != UINT32_MAX)
            l->out->data[parent].leaf = false;
        look(l, at, last, level + 1, run);
        at = last;
    }
}

void routines_find(const struct routine_sample *samples, size_t count, struct routine_limits limits,
                   struct routine_runs *out)
{
    struct looking l = {samples, count, limits, out};

    look(&l, 0, (uint32_t)count, 0, UINT32_MAX);
}
