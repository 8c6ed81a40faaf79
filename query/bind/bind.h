/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by bind.c and bind_metrics.c alone; what others use is in expr.h. */
#ifndef HQ_QUERY_BIND_BIND_H
#define HQ_QUERY_BIND_BIND_H

#include "query/bind/expr.h"

/* An empty program with room for its arguments, in the binding's arena. */
struct program *bind_new(struct binding *b, enum program_kind kind, unsigned args);

/* A metric of the query, or an error that says which there are. bind_metrics.c */
struct hq_error *bind_metric(struct binding *b, const struct metric_ref *r, bool exclusive, struct program **out);

#endif
