/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fold of a part of a run: which visits, or stretches of a cluster, are taken as one, their samples each at its place
 * in that one, the curve of each metric (query/folding/fold.h) and the representative routines
 * (query/folding/routines.h). The view `fold` makes rows and pictures of one or, with `compare with`, of two.
 * folded_visits.c has folded_choose, folded_routines.c the routines, folded_marks.c those that were marked themselves.
 */
#ifndef HQ_QUERY_FOLDED_H
#define HQ_QUERY_FOLDED_H

#include "query/folding/fold.h"
#include "query/folding/routines.h"
#include "query/views/stretches.h"

/* The limits of the paper: runs of seven samples, and of 2.5 % of the region. */
#define FOLDED_LIMITS ((struct routine_limits){.samples = 7, .share = 0.025, .join = true})

struct folded_events { /* of one metric */
    struct fold_event *data;
    size_t len, cap;
};
struct folded_place {
    double x;
    uint32_t context, visit;
};

struct folded {
    struct run *run;
    struct trace trace;
    const char *of;       /* what is folded, as it was written: in the run's arena */
    uint8_t *mark;        /* by context: the first level of routines; NULL: the outermost procedures are */
    struct visits visits; /* that are folded */
    size_t found;         /* of so many */
    double *length;       /* of each, seconds */
    double mean;          /* length */
    const uint32_t *metrics;
    size_t metric_count;
    struct folded_events *events; /* [metric_count] samples: what the counter has grown by since the one before */
    /* [metric_count] of what was counted at marks: what each visit had, NULL: it was not; and at each sample of the
     * clock how far it had come, of 1. */
    double **totals;
    struct folded_events *counted;
    struct {
        struct folded_place *data;
        size_t len, cap;
    } places;       /* of the samples that tell where time went */
    size_t aligned; /* `frames`: so many of these could be aligned */
    struct routine_runs runs;
    bool wants_spread; /* how sure their lengths are */
    size_t points;
    double span;                /* the points are the middles of equal parts of so many seconds */
    struct fold_point **curves; /* [metric_count][points]; NULL: the metric has no sample in them */
    uint32_t *chain;            /* [points] run + 1, 0: none is representative, or the mean visit is over */
};

/*
 * Finds what the query's view asks for, and which of these visits are folded. `f` is zero but for its run. None is no
 * error: a note says what to record. folded_deinit also after an error.
 */
struct hq_error *folded_choose(struct folded *f);
/* Folds the visits, of which there is at least one. */
struct hq_error *folded_fit(struct folded *f, size_t points, double span);
void folded_deinit(struct folded *f);

/* Steps of folded_fit. The first finds `runs` and `chain`. The second gives runs of routines whose visits were marked
 * in the visits that are folded the place and the length that these had, in the mean. */
struct hq_error *folded_find_routines(struct folded *f);
struct hq_error *folded_take_marks(struct folded *f);

/* Whether c is a level of routines. */
bool folded_is_routine(const struct tree *t, uint32_t c);
/* "solve > smooth [12]": what a run is in, and the line that most of its samples are in. In the run's arena. */
const char *folded_chain(const struct folded *f, uint32_t run, bool line);
/* Says so where there are too few samples to tell what runs when. */
void folded_note_poor(const struct folded *f);
/* The time of a point since the begin of the visit, seconds. */
static inline double folded_time(const struct folded *f, size_t point)
{
    return ((double)point + 0.5) / (double)f->points * f->span;
}

#endif
