/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops of procedures that have more or fewer of them on the other side of a comparison, or as many, of which what they
 * call says that they are others. A loop is known by its number, and one that was added, taken out or unrolled shifts
 * the numbers of those behind it: nobody knows which is which.
 */
#ifndef HQ_QUERY_RECOUNTED_H
#define HQ_QUERY_RECOUNTED_H

#include "query/choose/pairing.h"
#include "query/choose/select.h"

/* Marks them, by scope, in out[0] and out[1], which the caller frees; notes whose they are. `shown`: rows of loops are
 * asked for, so where their numbers alone pair them, that is noted, too. */
void recounted_loops(const struct tree *const sides[2], struct pairing *names, bool shown, struct selection *s,
                     bool *out[2]);

#endif
