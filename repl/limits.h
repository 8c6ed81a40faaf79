/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of one question: --limit-time (an hour) and --limit-memory (nine tenths of the machine's memory), so that a
 * mistake in a query ends with a message instead of a machine that swaps.
 */
#ifndef HQ_REPL_LIMITS_H
#define HQ_REPL_LIMITS_H

#include "common/opt.h"
#include "query/query.h"

/* Rows of the options of a command that asks. */
#define LIMIT_OPTIONS \
    {.name = "limit-time", .value = "TIME", .help = "end a question that takes longer (1h)"}, \
    { \
        .name = "limit-memory", .value = "SIZE", .help = "end when more memory is needed (90% of what there is)" \
    }

/* Sets both for the process. HQ_USAGE for values that are none. */
struct hq_error *limits_take(const struct opt_args *args);

/* query_run within the limit of time: HQ_DATA with the limit and the option once it is over. */
struct hq_error *limits_query(struct query_env *env, const struct statement *st, struct table **out);

#endif
