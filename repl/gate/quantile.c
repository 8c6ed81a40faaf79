/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/quantile.h"
#include "common/hash.h"
#include <math.h>
#include <string.h>

static double normal_tail(double x, double df)
{
    (void)df;
    return erfc(x / sqrt(2)) / 2;
}

/* The continued fraction of the incomplete beta function I_x(a, b) by the method of Lentz; converges fast for x <
 * (a+1)/(a+b+2). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), result;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    result = d;
    for (int m = 1; m < 500; m++) {
        for (int odd = 0; odd < 2; odd++) {
            double n = a + 2 * m;
            double k = odd ? -(a + m) * (a + b + m) * x / (n * (n + 1)) : m * (b - m) * x / ((n - 1) * n);

            d = 1 + k * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + k / c;
            c = fabs(c) < tiny ? tiny : c;
            result *= c * d;
        }
        if (fabs(c * d - 1) < 1e-14)
            break;
    }
    return result;
}

static double incomplete_beta(double a, double b, double x)
{
    double front;

    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P(T > t) = I_{df / (df + t^2)}(df / 2, 1 / 2) / 2 for t >= 0. */
static double student_tail(double t, double df)
{
    double half = incomplete_beta(df / 2, 0.5, df / (df + t * t)) / 2;

    return t >= 0 ? half : 1 - half;
}

static double normal_density(double x, double df)
{
    (void)df;
    return exp(-x * x / 2) / sqrt(2 * M_PI);
}

static double student_density(double t, double df)
{
    return exp(lgamma((df + 1) / 2) - lgamma(df / 2) - (df + 1) / 2 * log1p(t * t / df)) / sqrt(df * M_PI);
}

/* Newton's method on the logarithm of the tail, which is nearly straight, within an interval that always holds the
 * result: a step that leaves it is replaced by its middle. */
static double above(double (*tail)(double, double), double (*density)(double, double), double p, double df)
{
    double low = -1, high = 1, x;

    while (tail(low, df) < p && low > -1e12)
        low *= 2;
    while (tail(high, df) > p && high < 1e12)
        high *= 2;
    x = (low + high) / 2;
    for (int i = 0; i < 100; i++) {
        double q = tail(x, df), slope = density(x, df), next;

        if (q > p)
            low = x;
        else
            high = x;
        next = slope > 0 && q > 0 ? x + q * log(q / p) / slope : low;
        if (!(next > low && next < high))
            next = (low + high) / 2;
        if (fabs(next - x) <= 1e-13 * (1 + fabs(x)))
            return next;
        x = next;
    }
    return x;
}

double normal_beyond(double x)
{
    return normal_tail(x, 0);
}

/* Rows are judged by the dozen at one level and with as many runs each: what was asked last is remembered. df 0: the
 * normal distribution. */
static double known_above(double p, double df)
{
    static _Thread_local struct {
        double p, df, x;
    } known[64];
    uint64_t bits[2];

    memcpy(bits, (double[]){p, df}, sizeof bits);
    size_t at = hash_combine(hash_u64(bits[0]), bits[1]) % (sizeof known / sizeof *known);

    if (known[at].p != p || known[at].df != df) {
        known[at].x = df > 0 ? above(student_tail, student_density, p, df) : above(normal_tail, normal_density, p, 0);
        known[at].p = p;
        known[at].df = df;
    }
    return known[at].x;
}

double normal_above(double p)
{
    return known_above(p, 0);
}

double student_above(double p, double df)
{
    return known_above(p, df);
}

double student_beyond(double t, double df)
{
    return student_tail(t, df);
}
