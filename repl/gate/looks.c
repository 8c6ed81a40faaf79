/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/looks.h"
#include "repl/gate/judge.h"
#include <math.h>

bool gate_pair_fits(const struct gate_looks *l, double seconds)
{
    return !(l->budget > 0) || !(l->pair > 0) || seconds + l->pair <= l->budget;
}

/* The part of the race that is done, from 0 to 1: a patient one has two ends, by its budget and by its patience. */
static double done(const struct gate_looks *l, size_t pairs, double seconds)
{
    double by_count = l->fixed ? (double)pairs / (double)l->fixed : 0,
           by_time = l->budget > 0 ? seconds / l->budget : 0;

    return pairs >= LOOKS_PAIRS_MAX || !gate_pair_fits(l, seconds) ? 1 : fmin(1, fmax(by_count, by_time));
}

bool gate_look(struct gate_looks *l, size_t pairs, double seconds, double *family)
{
    double share = done(l, pairs, seconds);
    bool first = l->next == 0 && (pairs >= LOOKS_PAIRS_MIN || share >= 1);

    if (first && l->patience > l->budget && (double)pairs < LOOKS_PATIENT * share)
        l->kept = LOOKS_KEPT;
    bool in_time = share < 1;
    bool patient = l->kept > 0 && pairs < LOOKS_PATIENT && seconds < l->patience;

    l->last = !in_time && !patient;
    if (!l->last && (l->fixed || pairs < LOOKS_PAIRS_MIN || (in_time && pairs < l->next)))
        return false;
    double spent = l->last ? GATE_FAMILY : gate_spent(share) * (1 - l->kept);

    /* Behind the budget there is nothing to spend until the last look. */
    if (spent <= l->spent)
        return false;
    l->next = 2 * (size_t)ceil(0.7 * (double)pairs);
    *family = spent - l->spent;
    l->spent = spent;
    return true;
}
