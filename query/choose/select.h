/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A selection: the part of the data that a query looks at. A tree, and for every metric prefix sums over the positions
 * of its frames, so that the inclusive value of a context is one subtraction whatever was selected. Without clauses
 * both are the mapped arrays of the database; otherwise the sums of a metric are computed when it is first asked for,
 * at a cost by the values that they touch.
 *
 * Order of effect (doc/language.md, Clauses): profiles (ranks, threads), slices of time (during), call paths (through),
 * then the tree (prune, hide). Totals are taken after profiles and time, before the rest.
 */
#ifndef HQ_QUERY_SELECT_H
#define HQ_QUERY_SELECT_H

#include "common/err.h"
#include "common/units.h"
#include "common/vec.h"
#include "query/grammar/ast.h"
#include "query/choose/helpers.h"
#include "query/tree/node.h"
#include <math.h>
#include <signal.h>

struct query_env;

/* A measured metric of the selection; with `compare with`, one for each side. */
struct measure {
    const char *name, *event, *description;
    enum dim dim;
    double scale;                     /* value = integer * scale */
    unsigned flags;                   /* HQDB_METRIC_* */
    uint64_t period;                  /* base units */
    double weight;                    /* base units that a sample stands for, where samples weigh differently; else 0 */
    uint32_t metric;                  /* number in its database */
    enum metric_side side;            /* old and delta: with `compare with` */
    bool marks_sign;                  /* positive values print with + */
    bool plain;                       /* a number that is no amount, such as a rank: 0 is not blank */
    bool no_total;                    /* its values do not add up to anything: when something starts, a mean, a ratio */
    bool of_view;                     /* made by the view: it has no sums by frame */
    bool spare;                       /* of its view's measures one that is asked for after the others */
    size_t here_measure, old_measure; /* delta: what it is the difference of; SIZE_MAX: zero */
    const char *was;                  /* old and delta: the old side's own name, if it has another one; else NULL */
    double factor;                    /* value = integer * scale * factor; not 1 only on the old side */
    size_t share_of;                  /* old: the total is made that of this measure when it is loaded; SIZE_MAX: not */
    int64_t total, total_count;       /* after profiles and time; valid once loaded */
    const int64_t *sums, *counts;     /* [positions + 1]; NULL until selection_load */
    int64_t *own_sums, *own_counts;
};

/* Seconds, events or bytes. Most scales are a power of ten below one, which has no exact double: its inverse has. */
static inline double scaled_value(int64_t sum, double scale)
{
    double inverse = __builtin_rint(1 / scale);

    return scale < 1 && fabs(inverse * scale - 1) < 1e-15 ? (double)sum / inverse : (double)sum * scale;
}

/* How many samples of equal weight tell as much as `count` samples that stand for `sum` (base units) do. */
static inline double measure_samples(const struct measure *m, int64_t count, double sum)
{
    double equal = m->weight > 0 ? fabs(sum) / m->weight : INFINITY;

    return equal < (double)count ? equal : (double)count;
}

struct slice { /* from <= t < to, since the start of the run */
    uint64_t from_us, to_us;
    uint32_t profile;
    bool exact; /* a time that was asked for, or marked; else its ends were found by samples */
};

struct selection {
    struct tree tree;
    VEC(struct measure) measures;
    uint8_t *profiles;     /* [profile_count] 1: selected; NULL: all */
    uint8_t *old_profiles; /* the same of the other side of a comparison */
    uint8_t *keep;         /* [frame_count] 1: its call path was selected; NULL: all */
    uint8_t *old_keep;
    double old_factor; /* what the values of that side are multiplied by */
    bool sliced;
    VEC(struct slice) slices;            /* by profile, then time, disjoint; only if sliced */
    uint64_t origin_us;                  /* when the run started (timeline.h); only if sliced */
    size_t profile_count;                /* selected */
    size_t here_count;                   /* measures of this database: the first ones */
    struct helpers helpers, old_helpers; /* of each side; empty with `set helpers on` */
    bool helpers_known;                  /* they were looked for */
    bool all_count;                      /* set helpers on */
    uint32_t *context_at;                /* [positions]; NULL until selection_index */
    const volatile sig_atomic_t *interrupted;
    char *slice_text;  /* for the coverage note */
    char *unknown;     /* a pattern that chooses samples names nothing that is known: why; NULL otherwise */
    VEC(char *) notes; /* warnings about patterns that match nothing */
};

/* Makes the selection of a query. NULL query: everything. */
struct hq_error *selection_make(struct query_env *env, const struct query *q, struct selection *out);
void selection_deinit(struct selection *s);

/* Makes the sums of a measure available. */
struct hq_error *selection_load(struct selection *s, size_t measure);

/* Looks for helpers, once. */
void selection_find_helpers(struct selection *s);
/* Whether any value of the metric is left out because it is a helper's or launcher's. */
bool selection_leaves_out(const struct selection *s, bool old, uint32_t metric);
/* Whether the values of a selected profile count in the totals of a metric. */
bool selection_counts(const struct selection *s, bool old, uint32_t profile, uint32_t metric);

/* Whether nothing is known of a measure: its samples were recorded without their times, and a slice of time is chosen.
 */
static inline bool selection_knows_nothing_of(const struct selection *s, size_t measure)
{
    const struct measure *m = &s->measures.data[measure];

    return s->sliced && !m->of_view && !(m->flags & HQDB_METRIC_TRACED);
}

static inline bool selection_has_profile(const struct selection *s, uint32_t profile)
{
    return !s->profiles || s->profiles[profile];
}

/* Whether sums, tree and profiles are those of the database, so that its stored statistics hold. */
bool selection_is_plain(const struct selection *s);

#endif
