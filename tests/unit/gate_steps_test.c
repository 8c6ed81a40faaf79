/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps and drifts in courses: by arithmetic, and in simulated ones how often they are found, missed, and imagined. */
#include "common/hash.h"
#include "repl/gate/steps.h"
#include "tests/unit/test.h"
#include <math.h>

static uint64_t state = 7;

static double uniform(void)
{
    return ((double)(hash_u64(++state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

enum { N = 40, MOST = 8 };

TEST(a_step_by_arithmetic)
{
    const double y[] = {10, 11, 10, 11, 20, 21, 20, 21};
    struct gate_step s[MOST];

    CHECK_EQ_INT(gate_steps(y, 8, 0.01, 0, 0, s, MOST), 1);
    CHECK(!s[0].drift && s[0].at == 4 && s[0].first == 3 && s[0].last == 4);
    CHECK_NEAR(s[0].before, 10.5, 1e-12);
    CHECK_NEAR(s[0].after, 20.5, 1e-12);
    /* A change that is not worth telling. */
    CHECK_EQ_INT(gate_steps(y, 8, 0.01, 11, 0, s, MOST), 0);
    /* Exact values need no more than two on each side; of three nothing is said. */
    CHECK_EQ_INT(gate_steps((double[]){5, 5, 6, 6}, 4, 0.01, 0, 0, s, MOST), 1);
    CHECK_EQ_INT(gate_steps((double[]){5, 5, 6}, 3, 0.01, 0, 0, s, MOST), 0);
    CHECK_EQ_INT(gate_steps((double[]){5, 5, 5, 5, 5}, 5, 0.01, 0, 0, s, MOST), 0);
    CHECK_EQ_INT(gate_steps(NULL, 0, 0.01, 0, 0, s, MOST), 0);
}

TEST(two_steps_and_a_way_back)
{
    double y[30];
    struct gate_step s[MOST];

    for (int i = 0; i < 30; i++)
        y[i] = (i < 10 ? 1 : i < 20 ? 2 : 1.5) + 0.01 * (i % 3);
    CHECK_EQ_INT(gate_steps(y, 30, 0.01, 0, 0, s, MOST), 2);
    CHECK(s[0].at == 10 && s[1].at == 20 && s[0].after > s[0].before && s[1].after < s[1].before);
}

/* One part in a thousand a commit, with noise of one in a hundred: no commit shows it, and all of them together do. */
TEST(a_slow_drift_is_told_as_one)
{
    struct gate_step s[MOST];
    int found = 0;

    for (int round = 0; round < 200; round++) {
        double y[60];

        for (int i = 0; i < 60; i++)
            y[i] = 1 + 0.001 * i + 0.01 * normal();
        size_t n = gate_steps(y, 60, 0.01, 0, 0, s, MOST);

        found += n == 1 && s[0].drift && s[0].first == 0 && s[0].last == 59 &&
                 fabs(s[0].after - s[0].before - 0.059) < 0.02;
    }
    CHECK(found >= 170);
}

/* 2,000 courses that never change: one in a hundred is 20, and four standard errors are 18 more. */
TEST(unchanged_courses_have_no_steps)
{
    struct gate_step s[MOST];
    int imagined = 0;

    for (int round = 0; round < 2000; round++) {
        double y[N];
        int n = round % 2 ? N : 8;

        for (int i = 0; i < n; i++)
            y[i] = 1 + 0.02 * normal();
        imagined += gate_steps(y, (size_t)n, 0.01, 0, 0, s, MOST) > 0;
    }
    CHECK(imagined <= 38);
}

/* The interval of commits holds the true one in 95 of 100 cases: of 500, five standard errors below are 450. */
TEST(the_interval_of_commits_holds_the_step)
{
    for (double size = 2; size <= 8; size *= 2) {
        struct gate_step s[MOST];
        int seen = 0, held = 0;

        for (int round = 0; round < 500; round++) {
            double y[N];
            size_t at = 8 + hash_u64(++state) % (N - 16);

            for (size_t i = 0; i < N; i++)
                y[i] = (i >= at ? size : 0) + normal();
            if (gate_steps(y, N, 0.01, 0, 0, s, MOST) != 1 || s[0].drift)
                continue;
            seen++;
            held += s[0].first < at && at <= s[0].last;
        }
        if (held < 0.95 * seen - 5 * sqrt(0.95 * 0.05 * seen))
            TEST_FAIL("steps of %g deviations: %d of %d intervals hold them", size, held, seen);
        CHECK(size < 4 || seen >= 450);
    }
}

/*
 * Small rows: 600 samples a commit of which four are of the row, on average, and what is below a quarter of a percent
 * is not kept, so that most values are nothing at all and do not scatter. 2,000 of these that never change.
 */
TEST(rows_of_few_samples_have_no_steps)
{
    struct gate_step s[MOST];
    const double samples = 600, level = 0.01 / 169;
    int imagined = 0;

    for (int round = 0; round < 2000; round++) {
        double y[12];

        for (int i = 0; i < 12; i++) {
            int k = 0;

            for (int sample = 0; sample < 600; sample++)
                k += uniform() < (round % 2 ? 0.0065 : 0.0025);
            y[i] = k / samples < 0.0025 ? 0 : k / samples;
        }
        imagined += gate_steps(y, 12, level, 0.005, samples, s, MOST) > 0;
    }
    CHECK(imagined <= 1);
    /* As it was seen: by scatter alone two commits of twelve have three and five samples, and the others none. */
    const double seen[12] = {0.0059, 0.0073};

    CHECK_EQ_INT(gate_steps(seen, 12, level, 0.005, samples, s, MOST), 0);
    CHECK_EQ_INT(gate_steps(seen, 12, level, 0.005, 0, s, MOST), 1);
    /* A row that is large enough is found all the same: 40 % that become 50 %. */
    const double risen[12] = {0.41, 0.39, 0.4, 0.42, 0.38, 0.4, 0.51, 0.49, 0.5, 0.52, 0.48, 0.5};

    CHECK_EQ_INT(gate_steps(risen, 12, level, 0.005, samples, s, MOST), 1);
}

TEST_MAIN
