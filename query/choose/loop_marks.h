/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells the loops of a procedure apart by more than their numbers: by what is called in them, and where in it they are
 * written. Loops that changed places, or of which one was added and another taken out, are as many as before, and
 * their numbers are wrong.
 */
#ifndef HQ_QUERY_LOOP_MARKS_H
#define HQ_QUERY_LOOP_MARKS_H

#include "common/map.h"
#include "query/tree/tree.h"

/*
 * Adds to `crossed` the procedures of which what is called in a loop says that it is another one (common/loop_calls.h);
 * and to `shifted`, unless that is NULL, those of which a loop is written on another line of it. `names`: by side and
 * scope, as pairing_procedures gives them.
 */
void loop_marks(const struct tree *const sides[2], uint32_t *const names[2], struct map *crossed, struct map *shifted);

#endif
