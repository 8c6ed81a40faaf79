/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/measure/accumulator.h"
#include <math.h>

void accumulate(struct accumulator *a, double x)
{
    if (isnan(x))
        return;
    if (a->values) { /* a percentile needs nothing else */
        a->values[a->n++] = x;
        return;
    }
    if (a->n++ == 0)
        a->origin = a->min = a->max = x;
    double delta = x - a->origin;

    a->min = x < a->min ? x : a->min;
    a->max = x > a->max ? x : a->max;
    a->nonzero += x != 0;
    a->sum += delta;
    a->squares += delta * delta;
}

static void swap(double *a, double *b)
{
    double x = *a;

    *a = *b;
    *b = x;
}

/* Puts the k-th smallest value at its place, smaller ones before it (Hoare, Algorithm 65: find, CACM 1961). */
static double select_value(double *values, size_t n, size_t k)
{
    size_t low = 0, high = n - 1;

    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        size_t i = low, j = high;

        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                swap(&values[i++], &values[j]);
                if (j-- == 0)
                    break;
            }
        }
        if (j != SIZE_MAX && k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return values[k];
}

/* Linear interpolation between the two nearest values. */
static double percentile(struct accumulator *a, double share)
{
    double at = share * (double)(a->n - 1), value, next;
    size_t low = (size_t)at;

    value = select_value(a->values, a->n, low);
    if (low + 1 >= a->n || at == (double)low)
        return value;
    next = a->values[low + 1];
    for (size_t i = low + 2; i < a->n; i++)
        next = a->values[i] < next ? a->values[i] : next;
    return value + (at - (double)low) * (next - value);
}

double accumulator_value(struct accumulator *a, enum function f)
{
    double n = (double)a->n, mean, variance, deviation;

    if (!a->n)
        return NAN;
    mean = a->origin + a->sum / n;
    variance = a->squares / n - a->sum / n * (a->sum / n);
    deviation = sqrt(variance > 0 && a->max > a->min ? variance : 0);
    switch (f) {
    case FUNCTION_SUM: return mean * n;
    case FUNCTION_MEAN: return mean;
    case FUNCTION_MIN: return a->min;
    case FUNCTION_MAX: return a->max;
    case FUNCTION_STDDEV: return deviation;
    case FUNCTION_COV: return mean != 0 ? deviation / mean : NAN;
    case FUNCTION_COUNT: return (double)a->nonzero;
    case FUNCTION_IMBALANCE: return a->max - mean;
    case FUNCTION_P50: return percentile(a, 0.5);
    case FUNCTION_P90: return percentile(a, 0.9);
    case FUNCTION_P99: return percentile(a, 0.99);
    default: return NAN;
    }
}

bool is_percentile(enum function f)
{
    return f == FUNCTION_P50 || f == FUNCTION_P90 || f == FUNCTION_P99;
}
