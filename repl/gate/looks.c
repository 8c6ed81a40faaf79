/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/looks.h"
#include "repl/gate/judge.h"
#include <math.h>

bool gate_look(struct gate_looks *l, size_t pairs, double seconds, double *family)
{
    double by_count = l->fixed ? (double)pairs / (double)l->fixed : 0,
           by_time = l->budget > 0 ? seconds / l->budget : 0, share = fmin(1, fmax(by_count, by_time));
    double spent = share >= 1 || pairs >= LOOKS_PAIRS_MAX ? GATE_FAMILY : gate_spent(share);

    l->last = share >= 1 || pairs >= LOOKS_PAIRS_MAX;
    if (!l->last && (l->fixed || pairs < LOOKS_PAIRS_MIN || pairs < l->next))
        return false;
    l->next = 2 * (size_t)ceil(0.7 * (double)pairs);
    *family = spent - l->spent;
    l->spent = spent;
    return true;
}
