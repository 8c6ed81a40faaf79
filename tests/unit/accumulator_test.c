/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/measure/accumulator.h"
#include "common/mem.h"
#include "tests/unit/test.h"
#include <math.h>

static double of(enum function f, const double *x, size_t n)
{
    struct accumulator a = {.values = is_percentile(f) ? xcalloc(n + 1, sizeof *x) : NULL};
    double value;

    for (size_t i = 0; i < n; i++)
        accumulate(&a, x[i]);
    value = accumulator_value(&a, f);
    free(a.values);
    return value;
}

TEST(known_numbers)
{
    const double x[] = {4, 0, NAN, 2, 2};

    CHECK_NEAR(of(FUNCTION_SUM, x, 5), 8, 0);
    CHECK_NEAR(of(FUNCTION_MEAN, x, 5), 2, 0);
    CHECK_NEAR(of(FUNCTION_MIN, x, 5), 0, 0);
    CHECK_NEAR(of(FUNCTION_MAX, x, 5), 4, 0);
    CHECK_NEAR(of(FUNCTION_STDDEV, x, 5), sqrt(2), 1e-15);
    CHECK_NEAR(of(FUNCTION_COV, x, 5), sqrt(0.5), 1e-15);
    CHECK_NEAR(of(FUNCTION_COUNT, x, 5), 3, 0);
    CHECK_NEAR(of(FUNCTION_IMBALANCE, x, 5), 2, 0);
    CHECK_NEAR(of(FUNCTION_P50, x, 5), 2, 0);
    CHECK_NEAR(of(FUNCTION_P90, x, 5), 3.4, 1e-12);
}

TEST(nothing_is_blank)
{
    const double x[] = {NAN};

    for (int f = 0; f < FUNCTION_KINDS; f++)
        CHECK(isnan(of((enum function)f, x, 1)));
}

/* Equal values have no deviation, however large they are; small differences of large values keep it. */
TEST(large_values)
{
    const double same[] = {1e15, 1e15, 1e15}, close[] = {1e15, 1e15 + 2};

    CHECK_NEAR(of(FUNCTION_STDDEV, same, 3), 0, 0);
    CHECK_NEAR(of(FUNCTION_STDDEV, close, 2), 1, 0);
}

static void shuffle(double *x, int n, unsigned *state)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)((*state = *state * 1664525 + 1013904223) >> 8) % (i + 1);
        double swapped = x[i];

        x[i] = x[j];
        x[j] = swapped;
    }
}

/* Every order of many numbers has the same percentiles. */
TEST(percentiles_of_any_order)
{
    enum { N = 101 };
    double x[N];
    unsigned state = 1;

    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < N; i++)
            x[i] = i / (1 + round % 3);
        shuffle(x, N, &state);
        CHECK_NEAR(of(FUNCTION_P50, x, N), 50 / (1 + round % 3), 0);
        CHECK_NEAR(of(FUNCTION_P90, x, N), 90 / (1 + round % 3), 0);
        CHECK_NEAR(of(FUNCTION_P99, x, N), 99 / (1 + round % 3), 0);
    }
}

/* Those that lie between two numbers take the next larger one, wherever it stands. */
TEST(percentiles_between_two_numbers)
{
    enum { N = 100 };
    double x[N];
    unsigned state = 1;

    for (int i = 0; i < N; i++)
        x[i] = i;
    for (int round = 0; round < 200; round++) {
        shuffle(x, N, &state);
        CHECK_NEAR(of(FUNCTION_P50, x, N), 49.5, 1e-12);
        CHECK_NEAR(of(FUNCTION_P90, x, N), 89.1, 1e-12);
        CHECK_NEAR(of(FUNCTION_P99, x, N), 98.01, 1e-12);
    }
}

TEST_MAIN
