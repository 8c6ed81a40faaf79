/* SPDX-License-Identifier: BSD-3-Clause */
/* The view `summary` in its parts: the rows and questions that they add to. */
#ifndef HQ_QUERY_SUMMARY_IMPL_H
#define HQ_QUERY_SUMMARY_IMPL_H

#include "query/views/views.h"

enum { QUESTIONS_MOST = 12 };

struct summary_question {
    const char *text;
    bool is_above; /* what it answers stands above, in short: the first to go where a screen is too small for all */
};

#define WORTH_SAVING  0.05 /* of the whole */
#define WORTH_TELLING 0.01

struct summary {
    struct query_env *env; /* its own, so that nothing is remembered of the questions */
    struct run *run;
    struct table *table;
    const struct measure *metric; /* the first that has a value; if none has one, the first */
    const char *inclusive, *own;  /* how it is written */
    const char *path;             /* the question for its hot path */
    double total;
    double openmp; /* of it, what OpenMP's runtimes take */
    uint32_t ranks;
    bool unsure;                                       /* rows were left out of a list because they are chance */
    struct summary_question questions[QUESTIONS_MOST]; /* that tell more */
    size_t question_count;
};

/* ---- summary.c ---- */

/* Adds a row. number: what it is about, in the unit of the metric; NaN if that is no cost. */
void summary_add(struct summary *s, const char *name, const char *value, double number);
/* A question that tells more, for the end. */
void summary_ask(struct summary *s, const char *question);
/* Whether a cost is of so many samples that it is not chance that there is any: 1.96 sqrt(n) < n. */
bool summary_is_sure(const struct summary *s, double value);
/* A cost as text that lives as long as the table: as its part of the whole, and in its unit. */
const char *summary_share(const struct summary *s, double value);
const char *summary_amount(const struct summary *s, double value);

/* ---- summary_parallel.c: how parallel it was ---- */

struct hq_error *summary_tell_runtimes(struct summary *s);
/* How much is spent waiting, by what is waited for. */
void summary_tell_waiting(struct summary *s);
/* The parallel region whose threads lose most to the busiest of them. */
struct hq_error *summary_tell_regions(struct summary *s);
/* The work of each rank, outside of MPI, or of each thread, and what perfect balance would save. */
struct hq_error *summary_tell_balance(struct summary *s, bool of_ranks);

#endif
