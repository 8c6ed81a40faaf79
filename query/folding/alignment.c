/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/folding/alignment.h"
#include "common/hash.h"
#include "common/map.h"
#include "common/mem.h"
#include <stdlib.h>

#define NO_PLACE INT64_MIN
enum { ROUNDS_MOST = 64 };

struct aligning {
    struct routine_sample *samples;
    size_t count;
    int64_t *start; /* [count] height of the outermost frame that is known, by the pivot's; NO_PLACE */
};

/* The height of a routine in a sample's own frames, -1 if it is not there. */
static int64_t own_height(const struct routine_sample *s, uint32_t routine)
{
    for (uint32_t k = 0; k < s->depth; k++)
        if (s->levels[k] == routine)
            return k;
    return -1;
}

/* The routine that most samples hold, of several the one that is met first; ROUTINE_NONE: there are no frames. */
static uint32_t find_pivot(const struct aligning *a)
{
    struct map holds = {0};
    uint32_t pivot = ROUTINE_NONE;
    uint64_t most = 0;

    for (size_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < a->samples[i].depth; k++)
            if (own_height(&a->samples[i], a->samples[i].levels[k]) == k)
                ++*map_insert(&holds, a->samples[i].levels[k], 0, NULL);
    for (size_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < a->samples[i].depth; k++) {
            uint64_t n = map_get(&holds, a->samples[i].levels[k], 0);

            if (n > most) {
                most = n;
                pivot = a->samples[i].levels[k];
            }
        }
    map_deinit(&holds);
    return pivot;
}

/* ---- places ---- */

struct nearest { /* a sample that has its place and shares a frame */
    size_t distance;
    int64_t start; /* where that puts the sample */
};

/* Looks through the samples in one direction: what those with a place (before this round) share with the others. */
static void look_around(const struct aligning *a, bool forward, struct nearest *nearest)
{
    struct map last = {0}; /* routine -> the last sample with a place that holds it, + 1 */

    for (size_t n = 0; n < a->count; n++) {
        size_t i = forward ? n : a->count - 1 - n;
        const struct routine_sample *s = &a->samples[i];

        for (uint32_t k = 0; k < s->depth; k++) {
            if (a->start[i] != NO_PLACE) {
                map_put(&last, s->levels[k], i + 1);
                continue;
            }
            uint64_t at = map_get(&last, s->levels[k], 0);
            size_t distance = !at ? SIZE_MAX : forward ? i - (at - 1) : (at - 1) - i;

            if (distance < nearest[i].distance)
                nearest[i] = (struct nearest){distance, a->start[at - 1] +
                                                            own_height(&a->samples[at - 1], s->levels[k]) - (int64_t)k};
        }
    }
    map_deinit(&last);
}

/* Returns how many samples got a place. */
static size_t place_others(struct aligning *a)
{
    AUTO_FREE struct nearest *nearest = xcalloc(a->count + 1, sizeof *nearest);
    size_t placed = 0;

    for (size_t i = 0; i < a->count; i++)
        nearest[i].distance = SIZE_MAX;
    look_around(a, true, nearest);
    look_around(a, false, nearest);
    for (size_t i = 0; i < a->count; i++)
        if (a->start[i] == NO_PLACE && nearest[i].distance != SIZE_MAX) {
            a->start[i] = nearest[i].start;
            placed++;
        }
    return placed;
}

static size_t place_all(struct aligning *a)
{
    uint32_t pivot = find_pivot(a);
    size_t placed = 0, more = 1;

    for (size_t i = 0; i < a->count; i++) {
        int64_t height = own_height(&a->samples[i], pivot);

        a->start[i] = height < 0 ? NO_PLACE : -height;
        placed += height >= 0;
    }
    for (int round = 0; round < ROUNDS_MOST && placed && placed < a->count && more; round++)
        placed += more = place_others(a);
    return placed;
}

/* ---- frames that are not known ---- */

/* Heights from 0 on. Returns how many there are below the highest start: those that may have to be found. */
static size_t from_zero(struct aligning *a)
{
    int64_t least = INT64_MAX, most = INT64_MIN;

    for (size_t i = 0; i < a->count; i++)
        if (a->start[i] != NO_PLACE) {
            least = a->start[i] < least ? a->start[i] : least;
            most = a->start[i] > most ? a->start[i] : most;
        }
    for (size_t i = 0; i < a->count; i++)
        if (a->start[i] != NO_PLACE)
            a->start[i] -= least;
    return most < least ? 0 : (size_t)(most - least);
}

static uint64_t place_of(uint32_t routine, size_t height)
{
    return hash_combine(routine, height);
}

/* The knowledge gathered on the way through the samples in one direction: who called a routine at a height and, for
 * routines whose caller is not known, which routine was at that height. */
struct knowledge {
    struct map callers;
    uint32_t *at; /* [unknown] */
};

static void learn(const struct aligning *a, size_t i, size_t unknown, struct knowledge *k)
{
    const struct routine_sample *s = &a->samples[i];
    size_t start = (size_t)a->start[i];

    for (uint32_t n = 1; n < s->depth; n++)
        map_put(&k->callers, place_of(s->levels[n], start + n), (uint64_t)s->levels[n - 1] + 1);
    for (uint32_t n = 0; n < s->depth && start + n < unknown; n++)
        k->at[start + n] = s->levels[n];
}

/* Outwards from the outermost frame that is known, as far as somebody knows more. Returns how many were found. */
static size_t fill_one(uint32_t *levels, size_t start, const struct knowledge *k, bool by_height)
{
    size_t found = 0;

    for (size_t h = start; h-- > 0;) {
        uint64_t caller = levels[h] == ROUTINE_NONE ? map_get(&k->callers, place_of(levels[h + 1], h + 1), 0) : 0;

        if (levels[h] != ROUTINE_NONE)
            continue;
        levels[h] = caller ? (uint32_t)(caller - 1) : by_height ? k->at[h] : ROUTINE_NONE;
        if (levels[h] == ROUTINE_NONE)
            break;
        found++;
    }
    return found;
}

static size_t fill(const struct aligning *a, uint32_t **levels, size_t unknown, bool forward, bool by_height)
{
    struct knowledge k = {.at = xmalloc((unknown + 1) * sizeof *k.at)};
    size_t found = 0;

    for (size_t h = 0; h < unknown; h++)
        k.at[h] = ROUTINE_NONE;
    for (size_t n = 0; n < a->count; n++) {
        size_t i = forward ? n : a->count - 1 - n;

        if (a->start[i] == NO_PLACE)
            continue;
        if (a->samples[i].depth)
            found += fill_one(levels[i], (size_t)a->start[i], &k, by_height);
        learn(a, i, unknown, &k);
    }
    map_deinit(&k.callers);
    free(k.at);
    return found;
}

static void reconstruct(struct aligning *a, struct arena *arena)
{
    size_t unknown = from_zero(a);
    AUTO_FREE uint32_t **levels = xcalloc(a->count + 1, sizeof *levels);

    for (size_t i = 0; i < a->count; i++) {
        struct routine_sample *s = &a->samples[i];

        if (a->start[i] == NO_PLACE)
            continue;
        size_t outer = (size_t)a->start[i];

        levels[i] = ARENA_ARRAY(arena, outer + s->depth + 1, uint32_t);
        for (size_t h = 0; h < outer + s->depth; h++)
            levels[i][h] = h < outer ? ROUTINE_NONE : s->levels[h - outer];
    }
    for (size_t found = 1; found;) {
        found = fill(a, levels, unknown, true, false);
        found += fill(a, levels, unknown, false, false);
    }
    fill(a, levels, unknown, true, true);
    fill(a, levels, unknown, false, true);
    for (size_t i = 0; i < a->count; i++) {
        a->samples[i].levels = levels[i];
        a->samples[i].depth = a->start[i] == NO_PLACE ? 0 : (uint32_t)a->start[i] + a->samples[i].depth;
    }
}

size_t alignment_make(struct routine_sample *samples, size_t count, struct arena *arena)
{
    struct aligning a = {.samples = samples, .count = count, .start = xcalloc(count + 1, sizeof *a.start)};
    size_t placed = place_all(&a);

    reconstruct(&a, arena);
    free(a.start);
    return placed;
}
