/* SPDX-License-Identifier: BSD-3-Clause */
/* Quantiles for the comparisons of baselines. Pure functions. */
#ifndef HQ_REPL_GATE_QUANTILE_H
#define HQ_REPL_GATE_QUANTILE_H

/* How likely a standard normal variable exceeds x. */
double normal_beyond(double x);

/* The x that a standard normal variable exceeds with probability p, 0 < p < 1. */
double normal_above(double p);

/* Like normal_beyond and normal_above, for Student's t with df >= 1 degrees of freedom. */
double student_beyond(double t, double df);
double student_above(double p, double df);

#endif
