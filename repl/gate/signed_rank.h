/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wilcoxon's signed rank test of n differences (Individual comparisons by ranking methods, Biometrics Bulletin 1,
 * 1945), in the form of Tukey: of the n (n + 1) / 2 averages of any two differences, each with itself among them, how
 * many lie above zero. If the differences are as likely positive as negative, whatever their distribution is, that
 * number has a known one: the level holds without any other assumption. The median of the averages estimates the
 * difference, and single averages bound it (Hodges and Lehmann, Estimates of location based on rank tests, Annals of
 * Mathematical Statistics 34, 1963); with equal differences the bounds are careful (Noether, Wilcoxon confidence
 * intervals for location parameters in the discrete case, Journal of the American Statistical Association 62, 1967).
 *
 * Differences are given in ascending order. A call takes about 100 n steps and no memory. Pure functions; a table of
 * the last n is kept for each thread.
 */
#ifndef HQ_REPL_GATE_SIGNED_RANK_H
#define HQ_REPL_GATE_SIGNED_RANK_H

#include <stddef.h>

/* How likely at least `count` of the averages of n differences lie above zero, if both signs are as likely. Exact for
 * up to 200 differences; of more by the normal distribution, which is never less beyond one in ten. */
double signed_rank_tail(size_t n, size_t count);

/* How many of the averages lie above x. */
size_t signed_rank_over(const double *sorted, size_t n, double x);

/* The median of the averages; 0 of none. */
double signed_rank_estimate(const double *sorted, size_t n);

/* A lower bound: the difference is smaller with at most this probability. -INFINITY if so few never tell. */
double signed_rank_below(const double *sorted, size_t n, double level);
/* An upper bound likewise; INFINITY. */
double signed_rank_above(const double *sorted, size_t n, double level);

#endif
