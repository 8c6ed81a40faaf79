/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `during`: slices of the traces as a selection. A slice belongs to a profile and lasts from from_us up to, but not
 * including, to_us: microseconds since the run began. A sample is in it if its time is. One of elapsed time that stands
 * for several periods, and what is spread over a time (spans), are in it by the part that lies there, and count as a
 * sample where they end. So adjoining slices share nothing, and their values add up to the whole.
 *
 * `during PATTERN` and `during iteration N of PATTERN` are made of visits (visits.h).
 */
#ifndef HQ_QUERY_SLICES_H
#define HQ_QUERY_SLICES_H

#include "query/choose/select.h"
#include "query/choose/timeline.h"

struct query;
struct query_env;

/* Fills the slices of a selection whose tree and profiles are made; does nothing without `during`. */
struct hq_error *slices_select(struct query_env *env, struct selection *s, const struct query *q);

/* Adds to sums[frame] what the samples of a metric in the slices stand for, in base units, and to counts[frame] their
 * number; both are arrays of the caller's. QUERY_INTERRUPTED if the user asks to stop. */
struct hq_error *slices_values(const struct selection *s, uint32_t metric, int64_t *sums, int64_t *counts);

/* Adds the sums of one profile in the slices, by position in the tree, without the frames that the selection does not
 * keep, and the numbers of samples, unless `counts` is NULL. */
struct hq_error *slices_profile(const struct selection *s, uint32_t profile, uint32_t metric, int64_t *raw,
                                int64_t *counts);

/* The slices of one profile in the order of time: part of the selection's, or, if it has none, all of the time, which
 * is written to *whole. */
struct slices {
    const struct slice *data;
    size_t len;
};
struct slices slices_of(const struct selection *s, uint32_t profile, struct slice *whole);
/* Whether an instant lies in one of them. Instants that ascend are found from *at on, which begins at 0. */
bool slices_hold(const struct slices *slices, uint64_t us, size_t *at);

/* How much of the time from `from` to `to` lies in them; *at as above. */
uint64_t slices_overlap(const struct slices *slices, uint64_t from, uint64_t to, size_t *at);

/* Marks the contexts (1) that match or are below one that does. The caller frees. */
uint8_t *contexts_within(const struct tree *t, const uint8_t *matching);

/* The context of a frame of the selection's database. */
uint32_t selection_context(const struct selection *s, uint32_t frame);
/* Makes selection_context a lookup in place of a search, for who asks of every record of a trace: 4 bytes a frame. */
void selection_index(struct selection *s);

#endif
