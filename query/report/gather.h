/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of a page, while they are gathered. Columns of numbers go into the pack, everything else into the JSON
 * text. Texts are written once: columns name them by their number in `texts`.
 */
#ifndef HQ_QUERY_REPORT_GATHER_H
#define HQ_QUERY_REPORT_GATHER_H

#include "common/intern.h"
#include "query/grammar/parse.h"
#include "query/report/page_pack.h"
#include "query/report/report.h"
#include "query/run.h"

struct gathering {
    struct query_env *env;
    const struct report_options *options;
    struct run run; /* its selection, tree and arena; not a view at work */
    struct intern texts;
    struct pack pack;
    struct str json;     /* members of the object, each with a comma behind it */
    unsigned id_digits;  /* of the whole tree's ids in the page; 0: not known yet */
    uint32_t left_scope; /* what stands for the calls that small_cut took out of the tree; HQDB_NONE: it is whole */
};

/* Scopes and contexts (gather_tree.c). */
void gather_tree(struct gathering *g);
/* Sums and samples of every metric by position; how much a stored number is worth ("unit"). */
struct hq_error *gather_sums(struct gathering *g); /* gather_values.c */
/* The values of each profile; those of calls that cost less than the share are one value a call, 0: all are there. */
void gather_profiles(struct gathering *g, double share);
/* Its trace, of which one record in `every` is kept. */
struct hq_error *gather_traces(struct gathering *g, uint32_t every);
/* How many records the traces have. */
uint64_t gather_trace_records(const struct gathering *g);

/*
 * Of each context the outermost call that costs less than the share of every metric's total, if it is that or below it;
 * else HQDB_NONE. The sums are loaded; the caller frees.
 */
uint32_t *small_tops(const struct gathering *g, double share); /* small.c */
/* Puts these calls together, below each scope as one context of left_scope. No sums are loaded behind it. */
void small_cut(struct gathering *g, double share);

/* Gathers what is told in words: metrics, profiles, losses, tables that hq answers, source texts (gather_facts.c). */
struct hq_error *gather_facts(struct gathering *g);
/* The answer to a question, every row of it; the caller destroys it. */
struct hq_error *gather_ask(struct gathering *g, const char *text, struct table **out);
/* Answers that the page shows as hq gave them (answers.c). */
struct hq_error *gather_answers(struct gathering *g);

static inline const struct db *gather_db(const struct gathering *g)
{
    return g->run.selection.tree.db;
}

#endif
