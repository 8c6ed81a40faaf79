/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a course of values changed its level: one value a commit, in their order. Pure functions.
 *
 * The best split of a stretch into two levels is the one with the least sum of squares; it is told if Student's t of
 * the two means is beyond chance with every possible split counted as a test (Bonferroni), and each side is then looked
 * at in the same way (binary segmentation: Scott and Knott, Biometrics 30, 1974). A straight line that fits a stretch
 * better than a step is a drift, and is told as one: many small rises that no single commit shows.
 *
 * The commit is only known within an interval: all splits whose sum of squares is near enough to the least one (Hansen,
 * Econometrica 68, 2000: a likelihood ratio of up to 7.35 in 95 of 100 cases). Commits are taken to scatter
 * independently and alike; shares at least as far as sampling makes the larger of the two levels scatter, since a row
 * of few samples may by chance have none in many commits, which then do not scatter at all.
 */
#ifndef HQ_REPL_GATE_STEPS_H
#define HQ_REPL_GATE_STEPS_H

#include <stdbool.h>
#include <stddef.h>

enum { STEPS_LEAST = 4 }; /* commits in which a step can be seen: two on each side */

struct gate_step {
    bool drift;    /* from `first` to `last` it went on and on; else a step */
    size_t at;     /* the first value of the new level, most likely; of a drift its first */
    size_t first;  /* the last value that is surely of the old level */
    size_t last;   /* the first that is surely of the new one */
    double before; /* levels; of a drift the ends of its line */
    double after;
};

/*
 * Finds steps and drifts in y[0 .. n), in their order, at most `most` of them; how many. `level`: how likely a course
 * that never changed has one. Changes below `least` are not told. `samples`: if the values are shares, of how many
 * samples each; 0: they have no sampling error, or one that is not known.
 */
size_t gate_steps(const double *y, size_t n, double level, double least, double samples, struct gate_step *out,
                  size_t most);
/* The least sum of squares about their mean of n values in which a change of that size can be told: what has less
 * need not be looked at, and by that is no test (Bourgon, Gentleman and Huber, PNAS 107, 2010). */
double gate_steps_squares(size_t n, double least);

#endif
