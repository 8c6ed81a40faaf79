/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of a node in the slots that expressions read, two for each measure of the selection: inclusive,
 * exclusive; and what the attributes of a row are. Values are in the units of the metric's dimension; NaN: not known,
 * or not asked for.
 */
#ifndef HQ_QUERY_VALUES_H
#define HQ_QUERY_VALUES_H

#include "query/run.h"

/* Loads the measures that the bound clauses use, and what shares and columns are of: run->totals, run->wholes. */
struct hq_error *values_load(struct run *run);
/* Whether some values of a loaded measure are below zero, so a part may exceed the whole. Looked at when it is asked
 * for first: few queries do, and that reads all of them. */
bool values_fall(struct run *run, size_t measure);
/* The slots of a node, all that are used; the others NaN. */
void values_measure(struct run *run, const struct node *n, double *slots);
void values_facts(struct run *run, const struct node *n, int depth, struct facts *out);
/* Returns the owner of a scope's code, for pictures; HQDB_NONE: the program. */
struct tint values_tint(struct run *run, uint32_t scope);

#endif
