/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/routines.h"

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

/* The end of the samples of the same routine. */
static uint32_t end_of_run(const struct looking *l, uint32_t first, uint32_t end, uint32_t level)
{
    uint32_t at = first;

    while (at < end && at_level(l, at, level) == at_level(l, first, level))
        at++;
    return at;
}

static bool is_short(const struct looking *l, uint32_t first, uint32_t end)
{
    return end - first < l->limits.samples && border(l, end) - border(l, first) < l->limits.share;
}

/* With join: where samples of the routine go on behind what is too short to tell. */
static uint32_t end_joined(const struct looking *l, uint32_t first, uint32_t end, uint32_t level)
{
    uint32_t last = end_of_run(l, first, end, level), at = last;

    while (l->limits.join && at < end && is_short(l, last, at)) {
        if (at_level(l, at, level) == at_level(l, first, level))
            at = last = end_of_run(l, at, end, level);
        else
            at++;
    }
    return last;
}

static void look(struct looking *l, uint32_t first, uint32_t end, uint32_t level, uint32_t parent)
{
    for (uint32_t at = first; at < end;) {
        uint32_t last = end_joined(l, at, end, level), run;

        if (at_level(l, at, level) == ROUTINE_NONE || !is_long(l, at, last)) {
            at = end_of_run(l, at, end, level);
            continue;
        }
        run = (uint32_t)l->out->len;
        vec_push(l->out, (struct routine_run){.routine = at_level(l, at, level),
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
