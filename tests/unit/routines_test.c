/* SPDX-License-Identifier: BSD-3-Clause */
/* Representative routines: the paper's example, visits that do not keep in step, and how long routines last. */
#include "common/hash.h"
#include "common/mem.h"
#include "query/folding/routines.h"
#include "tests/unit/test.h"
#include "tests/unit/uniform.h"
#include <math.h>

/* Figure 3 of the paper: routines main, a, b, c, d, e, f are 0 to 6. */
TEST(the_routines_of_the_paper)
{
    enum { NO = 7 };
    static const uint32_t paths[6][6] = {{0, 1, 2, 3, 4, NO},   {0, 1, 2, 3, 4, 3}, {0, 1, 2, 3, NO, NO},
                                         {0, 1, 2, NO, NO, NO}, {0, 1, 2, 3, 4, 6}, {0, 1, 2, 3, 4, 5}};
    static const uint32_t depths[6] = {5, 6, 4, 3, 6, 6};
    struct routine_sample samples[6];
    struct routine_runs runs = {0};

    for (uint32_t i = 0; i < 6; i++)
        samples[i] = (struct routine_sample){((double)i + 0.5) / 6, paths[i], depths[i], 0, 1};
    routines_find(samples, 6, (struct routine_limits){.samples = 2}, &runs);
    /* main, a and b over all; c and d in s1 to s3 and s1 to s2; c and d in s5 to s6; nothing at the sixth level. */
    static const uint32_t want[][4] = {{0, 0, 0, 6}, {1, 1, 0, 6}, {2, 2, 0, 6}, {3, 3, 0, 3},
                                       {4, 4, 0, 2}, {3, 3, 4, 6}, {4, 4, 4, 6}};

    CHECK_EQ_INT(runs.len, 7);
    for (size_t i = 0; i < runs.len && i < 7; i++) {
        CHECK_EQ_INT(runs.data[i].routine, want[i][0]);
        CHECK_EQ_INT(runs.data[i].level, want[i][1]);
        CHECK_EQ_INT(runs.data[i].first, want[i][2]);
        CHECK_EQ_INT(runs.data[i].end, want[i][3]);
    }
    CHECK(runs.len == 7 && runs.data[4].leaf && runs.data[6].leaf && !runs.data[3].leaf);
    vec_deinit(&runs);
}

TEST(routines_behind_a_stray_sample)
{
    static const uint32_t one[] = {1}, two[] = {2};
    struct routine_sample samples[40];
    struct routine_runs runs = {0};

    for (uint32_t i = 0; i < 40; i++)
        samples[i] = (struct routine_sample){((double)i + 0.5) / 40, i == 13 ? two : one, 1, 0, 1};
    routines_find(samples, 40, (struct routine_limits){.samples = 7, .share = 0.03, .join = true}, &runs);
    CHECK_EQ_INT(runs.len, 1);
    CHECK(runs.len == 1 && runs.data[0].from == 0 && runs.data[0].to == 1);
    vec_deinit(&runs);
}

/* The border of two routines is anywhere from 0.3 to 0.5 of a visit, evenly: from 0.4 on most visits are in the second.
 */
TEST(routines_of_visits_that_do_not_keep_in_step)
{
    enum { VISITS = 100, EACH = 40, COUNT = VISITS * EACH };
    static const uint32_t one[] = {1}, two[] = {2};
    struct routine_sample *samples = xcalloc(COUNT, sizeof *samples);
    struct routine_runs runs = {0};

    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t visit = i * 37 % VISITS;
        double x = ((double)i + 0.5) / COUNT, border = 0.3 + 0.2 * ((double)visit + 0.5) / VISITS;

        samples[i] = (struct routine_sample){x, x < border ? one : two, 1, visit, 1};
    }
    routines_find(samples, COUNT, (struct routine_limits){.samples = 7, .share = 0.025, .join = true}, &runs);
    CHECK_EQ_INT(runs.len, 2);
    if (runs.len == 2) {
        CHECK_EQ_INT(runs.data[0].routine, 1);
        CHECK_EQ_INT(runs.data[1].routine, 2);
        CHECK(fabs(runs.data[0].to - 0.4) < 0.01 && fabs(runs.data[1].from - 0.4) < 0.01);
    }
    vec_deinit(&runs);
    free(samples);
}

/* Visits with ten samples each, whose border is early in four of five: at 0.30, else at 0.40. They pass it at 0.32 in
 * the mean, which is how long the first routine lasts; half of them have at 0.30. */
static void find_uneven(uint64_t seed, struct routine_runs *runs)
{
    enum { VISITS = 200, EACH = 10, COUNT = VISITS * EACH };
    static const uint32_t one[] = {1}, two[] = {2};
    static const struct routine_limits limits = {.samples = 7, .share = 0.025, .join = true};
    struct routine_sample *samples = xcalloc(COUNT, sizeof *samples);
    double step = 1.0 / COUNT;

    /* in each tenth each visit has one, at a place of its own: they come in the order of time */
    for (uint32_t i = 0, tenth = 0; tenth < EACH; tenth++)
        for (uint32_t k = 0; k < VISITS; k++, i++) {
            uint32_t visit = (uint32_t)((k + hash_combine(hash_u64(seed), tenth) % VISITS) * 37 % VISITS);
            double x = ((double)i + uniform_of(&seed)) * step, border = visit % 5 ? 0.3 : 0.4;

            border += 0.02 * (uniform_of(&seed) - 0.5);
            samples[i] = (struct routine_sample){x, x < border ? one : two, 1, visit, 1};
        }
    routines_find(samples, COUNT, limits, runs);
    routines_spread(samples, COUNT, VISITS, limits, runs);
    free(samples);
}

TEST(routines_last_what_they_do_in_the_mean)
{
    enum { TRIES = 60 };
    double sum = 0, covered = 0;

    for (uint64_t seed = 1; seed <= TRIES; seed++) {
        struct routine_runs runs = {0};

        find_uneven(seed, &runs);
        CHECK_EQ_INT(runs.len, 2);
        if (runs.len == 2) {
            sum += runs.data[0].to;
            covered += fabs(runs.data[0].to - 0.32) <= runs.data[0].sure;
            CHECK(runs.data[0].to == runs.data[1].from && runs.data[1].to == 1);
        }
        vec_deinit(&runs);
    }
    CHECK(fabs(sum / TRIES - 0.32) < 0.003);
    /* five standard deviations of as many that hold at 95 % */
    CHECK(covered / TRIES > 0.95 - 5 * sqrt(0.95 * 0.05 / TRIES));
}

/* The first routine takes as long in visits of one second as in those of two. */
TEST(routines_last_as_long_in_longer_visits)
{
    enum { COUNT = 4000 };
    static const uint32_t one[] = {1}, two[] = {2};
    struct routine_sample *samples = xcalloc(COUNT, sizeof *samples);
    struct routine_runs runs = {0};

    for (uint32_t i = 0; i < COUNT; i++) {
        double x = ((double)i + 0.5) / COUNT, length = 1 + i % 2;

        samples[i] = (struct routine_sample){x, x < 0.3 / length ? one : two, 1, i % 2, length};
    }
    routines_find(samples, COUNT, (struct routine_limits){.samples = 7, .share = 0.025, .join = true}, &runs);
    CHECK(runs.len == 2 && fabs(runs.data[0].to * 1.5 - 0.3) < 0.002);
    vec_deinit(&runs);
    free(samples);
}

TEST(one_visit_says_nothing_of_how_sure_its_routines_are)
{
    static const uint32_t one[] = {1};
    static const struct routine_limits limits = {.samples = 7, .share = 0.025, .join = true};
    struct routine_sample samples[40];
    struct routine_runs runs = {0};

    for (uint32_t i = 0; i < 40; i++)
        samples[i] = (struct routine_sample){((double)i + 0.5) / 40, one, 1, 0, 1};
    routines_find(samples, 40, limits, &runs);
    routines_spread(samples, 40, 1, limits, &runs);
    CHECK(runs.len == 1 && isnan(runs.data[0].sure));
    vec_deinit(&runs);
}

TEST_MAIN
