/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Visits: runs of samples of one thread with a pattern on their call path. A visit begins and ends halfway between the
 * samples inside and outside, and no more than a period from the one inside. Two visits with no sample between them
 * cannot be told apart and count as one; so visits are counted and numbered only where those that were seen lie well
 * apart (struct apart). In a trace of spans a visit begins and ends with its spans. Where the program or its runtime
 * marks what matches (phases, parallel regions), visits are the marked ones: exact, however short. Samples without any
 * path (time in the kernel of which no more is known) neither end nor begin a visit.
 */
#ifndef HQ_QUERY_VISITS_H
#define HQ_QUERY_VISITS_H

#include "query/choose/slices.h"

struct visit {
    uint32_t profile, number; /* from 1, within the profile, in all of the time */
    uint64_t from_us, to_us;  /* of the run; from <= t < to; what lies in the selection's slices */
    uint64_t length_us;       /* less than to - from where it lies in several slices */
    uint64_t samples;         /* in the slices */
    bool cut;                 /* a part of it lies outside of them */
    bool marked;              /* it was marked where it begins and ends; if it is not cut these are its times */
};

/*
 * How well samples tell visits apart, over all of the time. They do if nine of ten gaps between visits hold at least
 * APART_GAP samples and nine of ten visits at least APART_VISIT, in each profile, and no profile that calls it in a
 * loop is without a gap: then hardly any gap is shorter than the distance of two samples, which would make one visit of
 * two, and hardly any visit, which would not be seen.
 */
enum { APART_GAP = 3, APART_VISIT = 2 };
/* Gaps, or visits, of one profile that are too short. */
struct shortness {
    size_t few, of; /* so many of so many are too short */
    uint32_t profile;
    bool gaps; /* gaps between visits, not visits */
};
struct apart {
    size_t gaps, short_gaps, visits, short_visits;
    size_t profiles;                 /* that were looked at, and have visits */
    struct shortness worst;          /* the largest share that any profile has */
    double period_us;                /* mean time that a sample stands for */
    uint64_t least_gap, least_visit; /* samples that nine of ten hold at least, in the profile where that is least; 0:
                                        there is none */
    size_t gapless;                  /* profiles that call it in a loop, and have one visit */
    uint32_t gapless_profile;        /* the first */
    bool in_a_loop;                  /* it is called in one: visits may follow each other without a sample between */
    bool exact;                      /* begins and ends are in the trace, or marked */
    bool doubtful;                   /* in some profile they do not */
    bool looked, marked;             /* it was looked for marks; there are some */
};
struct visits {
    struct visit *data;
    size_t len, cap;
    struct apart apart;
};

/* Returns the context of the procedure that a mark is of: its first instruction is marked, which may lie in a line,
 * loop or inlined procedure of it. */
uint32_t visits_marked_context(const struct selection *s, uint32_t frame);

/* Whether a profile of the selection has marked what matches. */
bool visits_are_marked(const struct selection *s, const uint8_t *matching);

/*
 * Appends the visits of one profile to the matching contexts that lie in the selection's slices (have a sample in them,
 * if they were found by samples), cut to them. matching, within: by context. Where visits_are_marked, a profile without
 * marks has none.
 */
struct hq_error *visits_add(const struct selection *s, const struct timeline *time, uint32_t profile,
                            const uint8_t *matching, const uint8_t *within, struct visits *out);

/* Like visits_add, but a profile without marks has the visits that its samples show (while something of `within` is on
 * the stack), even where other profiles are marked. */
struct hq_error *visits_add_own(const struct selection *s, const struct timeline *time, uint32_t profile,
                                const uint8_t *matching, const uint8_t *within, struct visits *out);

/* Appends the part of a stretch of one profile that lies in the selection's slices, if there is any. */
void visits_take(const struct selection *s, struct visit stretch, struct visits *out);

/* A sentence on procedures, or inlined copies of them, that match and are not marked while others are, so that their
 * visits are missing; NULL: there is none. The caller frees. */
char *visits_unmarked(const struct selection *s, const uint8_t *matching);

/* Why visits cannot be counted or numbered, and what would help; NULL: they can. Where a profile has no gap, the only
 * visit may be all of them one behind another, if it was called in a loop. The caller frees. */
char *visits_doubt(const struct visits *v, const struct tree *t);

/* Where they can, a sentence on those that no sample lies between: gaps that were seen say nothing of gaps that were
 * not; NULL: there can be none. The caller frees. */
char *visits_unseen(const struct visits *v);

#endif
