/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is the new program slower than the old one? Two series of values of one row, one value a run, and what can be said of
 * their difference. Pure functions.
 *
 * Runs differ from one another by more than sampling explains, and machines drift while they are made. So the runs of
 * the two programs alternate (ABBA), and the differences of neighbours are judged: what drifts slowly cancels. If the
 * programs are equal a difference is as likely positive as negative, and nothing else is known of it: half of the
 * pairs may differ by a fiftieth and the others, disturbed, by a fifth. So from GATE_RANKS pairs on the test is
 * Wilcoxon's (signed_rank.h), whose level holds whatever the program and the machine do, and which single disturbed
 * runs cannot blind: where runs are about normal it wants a twentieth more pairs than Student's t, where they are
 * disturbed as on a shared machine half of them or fewer. What is judged is then the typical run: a program that became
 * slower in one run of five only is not found.
 *
 * Fewer pairs than that cannot have small probabilities by their signs alone. Of them Student's t judges the mean,
 * which holds its level from two pairs on if differences are about normal, and is careful where they have heavy tails
 * (Student, The probable error of a mean, Biometrika 6, 1908; Benjamini, Is the t test really conservative when the
 * parent distribution is long-tailed?, Technometrics 25, 1983). It is not where runs have two speeds and nothing
 * between: four pairs all have the same sign by chance once in 256 times. Which of the two judges depends on the number
 * of pairs alone, never on what they are.
 *
 * A few runs may by luck differ by less than sampling alone makes them differ. So a rise has to exceed both what the
 * runs' differences and what sampling explains; asking for both leaves the level what it is.
 *
 * A tolerance is a rise that has to be found; half of it may pass. A row
 *   fails         if it rose by more than half its tolerance and by more than chance explains,
 *   is ok         if it did not, and its runs rule out a rise as large as its tolerance, or if it fell beyond doubt,
 *   is undecided  otherwise: too few runs, or runs that differ too much.
 * Ruled out is what lies above the upper bound of the rise (the second of the two one-sided tests of Schuirmann, J.
 * Pharmacokinetics and Biopharmaceutics 15, 1987; that of a fall is not asked for), so that a row that did rise by its
 * tolerance is called ok in at most GATE_MISSED of all races. All rows have to be ok, so none of that is divided among
 * them. To ask instead that a rise by the tolerance would have failed, whatever was seen, takes three times as many
 * runs, for the same chance to be wrong.
 * Small rows are the least certain and matter least: they fail by their tolerance, but to be ok it is enough that a
 * larger rise is ruled out (`needed`), so that they keep nothing open.
 *
 * Many rows are judged together: the chance that any row of an unchanged program fails is at most GATE_FAMILY. A row
 * whose tolerance lies far above its error cannot fail by chance and takes no part of that (gate_level).
 *
 * A race looks at its rows several times. Each look spends a part of GATE_FAMILY (gate_spent: the power family of Kim
 * and DeMets, Biometrika 74, 1987, with exponent 4: early looks find what is large, and the last one has most of it,
 * for what is as large as the tolerance); by the union bound the parts add up to the whole, whatever the looks have to
 * do with one another. Of GATE_MISSED it spends the same part.
 */
#ifndef HQ_REPL_GATE_JUDGE_H
#define HQ_REPL_GATE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#define GATE_FAMILY    0.01 /* an unchanged program fails in at most one check of a hundred */
#define GATE_MISSED    0.05 /* of what rose by its tolerance one in twenty is called ok at most */
#define GATE_RUNS_MOST 1000
#define GATE_RANKS     20 /* pairs from which on ranks judge: once in a million times all signs are alike */

struct gate_difference {
    double old, now; /* of a typical run: means over the runs, from GATE_RANKS pairs on medians of averages of two */
    double rise;     /* now - old */
    double error;    /* standard error of the rise; 0: the values have none */
    double sampling; /* the part of it that sampling alone makes, which is known; 0: none */
    double df;       /* degrees of freedom of `error`; INFINITY for exact values; 0: too few runs to know the error */
    double allowed;  /* the tolerance, in the unit of the values; the caller sets it */
    double needed;   /* what has to be ruled out for ok, if that is more than the tolerance; the caller sets it */
    const double *sorted; /* the differences that ranks judge, in ascending order; NULL: Student's t judges */
    size_t n;             /* of them */
};

/* The value of a typical run, as it stands in gate_difference. `room` is for n values. */
double gate_typical(const double *x, size_t n, double *room);

/* Neighbours of one race: old[i] and now[i] ran one after the other. `room` is for n values, and is used as long as the
 * result is. */
struct gate_difference gate_paired(const double *old, const double *now, size_t n, double *room);
/* Runs that were made apart, by their means and standard deviations: Welch's t (Biometrika 34, 1947). */
struct gate_difference gate_apart(double old, double old_sd, size_t n, double now, double now_sd, size_t m);
/* Values without error: counts of instructions, of calls, of bytes. */
struct gate_difference gate_exact(double old, double now);

enum gate_verdict { GATE_OK, GATE_FAIL, GATE_UNDECIDED };

/* How likely chance may call one row slower, so that of all n together it does with probability `family`. */
double gate_level(const struct gate_difference *rows, size_t n, double family);
/* The part of GATE_FAMILY that has been spent when a share of the whole (0 to 1) is done. */
double gate_spent(double share);

/* The part of GATE_MISSED that a look may spend which may spend so much of GATE_FAMILY. */
double gate_missed(double family);

/* Did it fall beyond doubt, by twice what its 95 % interval explains? Then it has not risen, however little is seen. */
bool gate_fell(const struct gate_difference *d);
enum gate_verdict gate_judge(const struct gate_difference *d, double level, double missed);
/* The rise from which on all are ruled out; INFINITY if it is not known. */
double gate_bound(const struct gate_difference *d, double missed);
/* The smallest rise that fails in nine of ten cases, whatever was seen; INFINITY if it is not known. */
double gate_seen(const struct gate_difference *d, double level);
/* About how many runs of each program decide a row that n did not, at one look; GATE_RUNS_MOST: that many or more. */
size_t gate_runs_wanted(const struct gate_difference *d, double level, size_t n);
/* Half the width of the 95 % interval of the rise; INFINITY if it is not known. */
double gate_interval(const struct gate_difference *d);

#endif
