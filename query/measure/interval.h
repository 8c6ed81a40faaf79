/* SPDX-License-Identifier: BSD-3-Clause */
/* 95 % intervals of sampled values. The method is in interval.c. */
#ifndef HQ_QUERY_INTERVAL_H
#define HQ_QUERY_INTERVAL_H

#include "query/measure/entry.h"

/* Half width of the 95 % interval of a cell: 0 for exact values, NaN if it is not known (doc/language.md, Expressions).
 */
double interval_half_width(struct run *run, const struct entry *e, const struct program *p);
/* The ends of the 95 % interval of a value of which `difference` is the difference to a bound; of a share those of
 * Wilson, whose middle is not the value. False: there is no error, or none is known. */
bool interval_ends(struct run *run, struct entry *e, const struct program *difference, double value, double *low,
                   double *high);
/* How far from its bound a value may be seen, in 95 % of all runs, though in truth it is the bound. `p` is the value
 * less the bound, `difference` what that is here. Of what is no share this is interval_half_width. */
double interval_at_bound(struct run *run, const struct entry *e, const struct program *p, double difference);

#endif
