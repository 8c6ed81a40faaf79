/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stretches of time of single profiles, and what was measured in them: the visits to a pattern, or the computing bursts
 * between what is no computing. By default those are MPI calls and waiting, and the begin and end of each parallel
 * region is a bound, too.
 */
#ifndef HQ_QUERY_STRETCHES_H
#define HQ_QUERY_STRETCHES_H

#include "query/run.h"
#include "query/views/trace.h"
#include "query/choose/visits.h"

/*
 * The visits to what matches (mark: by context) of the profiles of a trace, in the order of profiles and time, numbered
 * in each profile. Those that were found by samples begin and end halfway between two samples. *doubt becomes why they
 * may be others than they seem, or NULL; the caller frees it.
 */
struct hq_error *stretches_of(struct run *run, const struct trace *t, const uint8_t *mark, struct visits *out,
                              char **doubt);

/* Likewise those that the query's view asks for: the visits to its `of`, else the bursts between its `between`, else
 * those between what is no computing. */
struct hq_error *stretches_find(struct run *run, const struct trace *t, struct visits *out, char **doubt);

/* The metrics whose traces say when they grew, and where there are marked stretches those that were counted at marks:
 * numbers in the database, in its order. In the run's arena. */
const uint32_t *stretches_metrics(struct run *run, const struct visits *stretches, size_t *count);

/*
 * Computes the values of the profiles in each stretch: values[stretch * count + i] in the base units of metrics[i]; of
 * a marked one exactly, where that was counted at its marks, else by the samples in it, NaN where there can be none.
 * Stretches are ordered by profile and time and do not overlap.
 */
struct hq_error *stretches_measure(struct run *run, const struct trace *t, const struct visits *stretches,
                                   const uint32_t *metrics, size_t count, double *values);

/* Counts at the marks of stretches: of the metrics of which anything was, in the run's arena, values as in
 * stretches_measure; NaN where it was not. Both tell in a note how many whole stretches lack what others have. */
struct stretch_counts {
    uint32_t *metrics;
    size_t count;
    double *values;
};
struct hq_error *stretches_count(struct run *run, const struct trace *t, const struct visits *stretches,
                                 struct stretch_counts *out);

/* Appends the metrics to the measures of the selection, each with its total over the stretches, a row of `count` values
 * each; none, where the value of one that is whole is not known. */
void metrics_add_measures(struct run *run, const struct visits *stretches, const uint32_t *metrics, size_t count,
                          const double *values);
/* Writes the slots of one row, from its values. */
void metrics_fill_slots(const struct run *run, const uint32_t *metrics, size_t count, const double *values,
                        double *slots);

/* Makes start, length and the metrics the measures of the selection; and the slots of a stretch for them, in the run's
 * arena, from its `count` values. */
void stretches_set_measures(struct run *run, const struct visits *v, const uint32_t *metrics, size_t count,
                            const double *values);
double *stretch_slots(struct run *run, const struct visit *v, const uint32_t *metrics, size_t count,
                      const double *values);

#endif
