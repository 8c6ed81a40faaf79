/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics by name: those of the selection, with the aliases time, cycles, instructions and flops for what is present.
 */
#ifndef HQ_QUERY_METRICS_H
#define HQ_QUERY_METRICS_H

#include "query/bind/expr.h"

/* SIZE_MAX if there is none. Case is ignored; the recorded event's name is accepted too. */
size_t metrics_find(const struct selection *s, const char *name, enum metric_side side);

/* The i-th alias; NULL behind the last. */
const char *metrics_alias(size_t i);

/* The metric of the other side that a metric is compared with. */
struct metric_partner {
    size_t measure; /* of the other side; SIZE_MAX none */
    bool same_unit; /* the values themselves can be compared, and not only their shares */
};

/*
 * For `compare with`: the partner of each measure. By name; then by the event without its modifiers; then by what the
 * aliases mean; and if that found nothing at all, what comes first on each side, time before cycles before all others.
 * malloc.
 */
struct metric_partner *metrics_pair(const struct selection *s);

/* The error about a name that is no metric, with the nearest one. */
struct hq_error *metrics_unknown(const struct selection *s, const struct query_env *env, const struct metric_ref *r);

/* True if the name is a metric, an alias of one, or reserved for one: a let may not have it. */
bool metrics_taken(const struct db *db, const char *name);

#endif
