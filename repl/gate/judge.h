/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is the new program slower than the old one? Two series of values of one row, one value a run, and what can be said of
 * their difference. Pure functions.
 *
 * Runs differ from one another by more than sampling explains, and machines drift while they are made. So the runs of
 * the two programs alternate (ABBA), and the differences of neighbours are judged: what drifts slowly cancels.
 * Student's t on the differences holds its level from two pairs on if they are about normal, and is careful where they
 * have heavy tails (Student, The probable error of a mean, Biometrika 6, 1908; Benjamini, Is the t test really
 * conservative when the parent distribution is long-tailed?, Technometrics 25, 1983).
 *
 * A few runs may by luck differ by less than sampling alone makes them differ. So a rise has to exceed both what the
 * runs' differences and what sampling explains; asking for both leaves the level what it is.
 *
 * A tolerance is a rise that has to be found; half of it may pass. A row
 *   fails         if it rose by more than half its tolerance and by more than chance explains,
 *   is ok         if it did not, and a rise as large as its tolerance would have failed in nine of ten cases,
 *   is undecided  otherwise: too few runs, or runs that differ too much.
 *
 * Many rows are judged together: the chance that any row of an unchanged program fails is at most GATE_FAMILY. A row
 * whose tolerance lies far above its error cannot fail by chance and takes no part of that (gate_level).
 *
 * A race looks at its rows several times. Each look spends a part of GATE_FAMILY (gate_spent: the power family of Kim
 * and DeMets, Biometrika 74, 1987, with exponent 2); by the union bound the parts add up to the whole, whatever the
 * looks have to do with one another.
 */
#ifndef HQ_REPL_GATE_JUDGE_H
#define HQ_REPL_GATE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#define GATE_FAMILY 0.01 /* an unchanged program fails in at most one check of a hundred */
#define GATE_POWER  0.9  /* a rise as large as the tolerance is found in nine of ten */

struct gate_difference {
    double old, now; /* means over the runs */
    double rise;     /* now - old */
    double error;    /* standard error of the rise; 0: the values have none */
    double sampling; /* the part of it that sampling alone makes, which is known; 0: none */
    double df;       /* degrees of freedom of `error`; INFINITY for exact values; 0: too few runs to know the error */
    double allowed;  /* the tolerance, in the unit of the values; the caller sets it */
};

/* Neighbours of one race: old[i] and now[i] ran one after the other. */
struct gate_difference gate_paired(const double *old, const double *now, size_t n);
/* Runs that were made apart, by their means and standard deviations: Welch's t (Biometrika 34, 1947). */
struct gate_difference gate_apart(double old, double old_sd, size_t n, double now, double now_sd, size_t m);
/* Values without error: counts of instructions, of calls, of bytes. */
struct gate_difference gate_exact(double old, double now);

enum gate_verdict { GATE_OK, GATE_FAIL, GATE_UNDECIDED };

/* How likely chance may call one row slower, so that of all n together it does with probability `family`. */
double gate_level(const struct gate_difference *rows, size_t n, double family);
/* The part of GATE_FAMILY that has been spent when a share of the whole (0 to 1) is done. */
double gate_spent(double share);

enum gate_verdict gate_judge(const struct gate_difference *d, double level);
/* The smallest rise that fails in nine of ten cases; INFINITY if it is not known. */
double gate_seen(const struct gate_difference *d, double level);
/* About how many runs of each program decide a row that n did not. */
size_t gate_runs_wanted(const struct gate_difference *d, double level, size_t n);
/* Half the width of the 95 % interval of the rise; INFINITY if it is not known. */
double gate_interval(const struct gate_difference *d);

#endif
