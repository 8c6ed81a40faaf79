/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict of races: known cases, and that the level and the power hold in simulated ones. */
#include "repl/gate/judge.h"
#include "repl/gate/looks.h"
#include "repl/gate/signed_rank.h"
#include "tests/unit/test.h"
#include "tests/unit/uniform.h"

#include <math.h>

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979323846 * uniform());
}

enum { ROWS = 20, PAIRS = 10 };

/*
 * A race of ABBA pairs: every run has a factor of its own, the machine drifts (a random walk, with steps now and then),
 * and each row scatters by itself. Row 0 of the new program is slower.
 */
static void make_race(double old[ROWS][PAIRS], double now[ROWS][PAIRS], double spread, double slower)
{
    double drift = 0;

    for (int run = 0; run < 2 * PAIRS; run++) {
        int pair = run / 2, first_is_old = pair % 2 == 0, is_old = (run % 2 == 0) == first_is_old;
        double common;

        drift += 0.01 * normal();
        if (uniform() < 0.05)
            drift += 0.2 * (uniform() - 0.5);
        common = 1 + drift + spread * 0.5 * normal();
        for (int row = 0; row < ROWS; row++) {
            double mean = row == 0 ? 0.4 : 0.6 / (ROWS - 1), value = mean * (common + spread * normal());

            (is_old ? old : now)[row][pair] = is_old || row ? value : value * (1 + slower);
        }
    }
}

struct counts {
    int fail, ok, undecided, row0;
};

static struct counts race_often(int times, double spread, double slower)
{
    struct counts c = {0};

    for (int i = 0; i < times; i++) {
        double old[ROWS][PAIRS], now[ROWS][PAIRS];
        static double room[ROWS][PAIRS];
        struct gate_difference d[ROWS];
        bool fails = false, open = false;

        make_race(old, now, spread, slower);
        for (int row = 0; row < ROWS; row++) {
            d[row] = gate_paired(old[row], now[row], PAIRS, room[row]);
            d[row].allowed = fmax(0.1 * d[row].old, 0.02);
        }
        double level = gate_level(d, ROWS, GATE_FAMILY);

        for (int row = 0; row < ROWS; row++) {
            enum gate_verdict verdict = gate_judge(&d[row], level, GATE_MISSED);

            fails |= verdict == GATE_FAIL;
            open |= verdict == GATE_UNDECIDED;
            c.row0 += row == 0 && verdict == GATE_FAIL;
        }
        c.fail += fails;
        c.undecided += !fails && open;
        c.ok += !fails && !open;
    }
    return c;
}

/* 1,500 races: one in a hundred would be 15; the bound is five standard errors above. */
TEST(unchanged_programs_fail_at_most_once_in_a_hundred)
{
    CHECK(race_often(1500, 0.03, 0).fail <= 35);
    CHECK(race_often(1500, 0.10, 0).fail <= 35);
}

/* Ten pairs of runs that differ by 3 %: 10 % more in a row of 40 % is found; bounds are five standard errors away. */
TEST(a_slowdown_of_a_tenth_is_found)
{
    struct counts c = race_often(500, 0.03, 0.1);

    CHECK(c.row0 >= 450 - 34);
}

/* One in twenty of 1,500 would be 75; the bound is five standard errors above. Seen were 0 to 81. */
TEST(what_is_slower_is_rarely_ok_however_runs_differ)
{
    static const double spreads[] = {0.02, 0.04, 0.06, 0.1, 0.2, 0.3};

    for (size_t i = 0; i < sizeof spreads / sizeof *spreads; i++)
        CHECK(race_often(1500, spreads[i], 0.1).ok <= 75 + 42);
}

/* By a rise that would have failed, whatever was seen, 499 and 396 were ok. */
TEST(unchanged_programs_are_ok_where_a_rise_is_ruled_out)
{
    CHECK(race_often(500, 0.02, 0).ok >= 490);
    CHECK(race_often(500, 0.04, 0).ok >= 450);
}

/*
 * Pairs of which every fourth is disturbed, by as much as a run takes, as on a machine that others use. Student's t of
 * the mean sees the disturbance alone.
 */
static enum gate_verdict judge_disturbed(double slower, double *room)
{
    enum { MANY = 80 };
    double old[MANY], now[MANY];

    for (int i = 0; i < MANY; i++) {
        old[i] = 1 + 0.03 * normal() + (uniform() < 0.15 ? 1.5 * uniform() : 0);
        now[i] = (1 + slower) * (1 + 0.03 * normal() + (uniform() < 0.15 ? 1.5 * uniform() : 0));
    }
    struct gate_difference d = gate_paired(old, now, MANY, room);

    d.allowed = 0.1 * d.old;
    return gate_judge(&d, 0.001, GATE_MISSED);
}

/* Seen were 0, 477 and 472 of 500; with the mean 0, 0 and 78. The numbers are the same each time. */
TEST(single_disturbed_runs_hide_nothing)
{
    double room[80];
    int failed = 0, ok = 0, found = 0;

    for (int i = 0; i < 500; i++) {
        enum gate_verdict unchanged = judge_disturbed(0, room);

        failed += unchanged == GATE_FAIL;
        ok += unchanged == GATE_OK;
        found += judge_disturbed(0.1, room) == GATE_FAIL;
    }

    CHECK(failed <= 5);
    CHECK(ok >= 400);
    CHECK(found >= 400);
}

/* A program with two speeds and nothing between: all signs of twenty pairs are alike once in a million times. */
TEST(two_speeds_do_not_fail)
{
    double old[GATE_RANKS], now[GATE_RANKS], room[GATE_RANKS];
    int failed = 0;

    for (int race = 0; race < 2000; race++) {
        for (int i = 0; i < GATE_RANKS; i++) {
            bool quick = uniform() < 0.5;

            old[i] = quick ? 1 : 1.5;
            now[i] = quick ? 1.5 : 1; /* the worst case: always the other speed */
        }
        struct gate_difference d = gate_paired(old, now, GATE_RANKS, room);

        d.allowed = 0.1 * d.old;
        failed += gate_judge(&d, 0.001, GATE_MISSED) == GATE_FAIL;
    }
    CHECK(failed <= 12); /* 2 are to be expected */
}

/* The typical run: what 39 of 40 pairs say, not what the mean of all is. */
TEST(one_wild_run_is_no_rise)
{
    double old[40], now[40], room[40];

    for (int i = 0; i < 40; i++) {
        old[i] = 1 + 0.001 * (i % 7);
        now[i] = i == 20 ? 30 : 1 + 0.001 * (i % 5);
    }
    struct gate_difference d = gate_paired(old, now, 40, room);

    d.allowed = 0.1;
    CHECK_NEAR(d.rise, 0, 0.002);
    CHECK_NEAR(d.now - d.old, d.rise, 1e-12);
    CHECK(gate_interval(&d) < 0.01);
    CHECK(gate_judge(&d, 0.001, GATE_MISSED) == GATE_OK);
}

TEST(small_rows_keep_nothing_open)
{
    struct gate_difference d = {.old = 1, .now = 1, .error = 0.065, .df = INFINITY, .allowed = 0.1};

    CHECK(gate_judge(&d, 0.001, GATE_MISSED) == GATE_UNDECIDED);
    d.needed = 0.4;
    CHECK(gate_judge(&d, 0.001, GATE_MISSED) == GATE_OK);
    CHECK(gate_bound(&d, GATE_MISSED) > 0.1);
    d.rise = 0.25; /* and yet they fail by their tolerance */
    CHECK(gate_judge(&d, 0.001, GATE_MISSED) == GATE_FAIL);
}

/* The rise that is said to fail in nine of ten cases: of 1,000 programs that became slower by it 900 fail, by ranks and
 * by Student's t, and of those that did by half as much fewer. Bounds are five standard errors away, and one hundredth,
 * for the error is estimated. */
TEST(nine_of_ten_rises_that_are_said_to_be_seen_fail)
{
    enum { TIMES = 1000 };
    static const size_t counts[] = {12, 24};
    const double level = 0.001, spread = 0.05;

    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        double old[24], now[24], room[24], seen = 0;
        int fails = 0, half = 0;

        for (int i = 0; i < 3 * TIMES; i++) {
            double slower = i < TIMES ? 0 : i < 2 * TIMES ? seen / TIMES : seen / TIMES / 2;

            for (size_t n = 0; n < counts[k]; n++) {
                old[n] = 1 + spread * normal();
                now[n] = 1 + slower + spread * normal();
            }
            struct gate_difference d = gate_paired(old, now, counts[k], room);

            d.allowed = 0.1;
            if (i < TIMES)
                seen += gate_seen(&d, level);
            else if (i < 2 * TIMES)
                fails += gate_judge(&d, level, GATE_MISSED) == GATE_FAIL;
            else
                half += gate_judge(&d, level, GATE_MISSED) == GATE_FAIL;
        }
        CHECK(fails >= 0.89 * TIMES - 48);
        CHECK(fails <= 0.96 * TIMES);
        CHECK(half <= 0.6 * TIMES);
    }
}

TEST(known_differences)
{
    const double old[] = {10, 12, 11, 13}, now[] = {11, 14, 12, 14};
    double room[4];
    struct gate_difference d = gate_paired(old, now, 4, room);

    CHECK_NEAR(d.rise, 1.25, 1e-12);
    CHECK_NEAR(d.error, 0.25, 1e-12); /* differences 1 2 1 1: deviation 0.5, by the root of 4 */
    CHECK_NEAR(d.df, 3, 0);
    d = gate_apart(11.5, sqrt(5.0 / 3), 4, 12.75, 1.5, 4);
    CHECK_NEAR(d.rise, 1.25, 1e-12);
    CHECK_NEAR(d.error, sqrt((5.0 / 3 + 2.25) / 4), 1e-9); /* variances 1.667 and 2.25 */
    CHECK(d.df > 5.8 && d.df < 6);
    CHECK_NEAR(gate_interval(&(struct gate_difference){.error = 1, .df = 3}), 3.182446, 1e-5);
}

TEST(exact_values_have_their_tolerance_alone)
{
    struct gate_difference d = gate_exact(1000, 1004);

    d.allowed = 5;
    CHECK(gate_judge(&d, 0.01, GATE_MISSED) == GATE_OK);
    d = gate_exact(1000, 1006);
    d.allowed = 5;
    CHECK(gate_judge(&d, 0.01, GATE_MISSED) == GATE_FAIL);
    CHECK_NEAR(gate_bound(&d, GATE_MISSED), 6, 1e-12);
}

TEST(one_pair_of_runs_tells_nothing)
{
    const double old[] = {1}, now[] = {5};
    double room[1];
    struct gate_difference d = gate_paired(old, now, 1, room);

    d.allowed = 0.1;
    CHECK(gate_judge(&d, 0.01, GATE_MISSED) == GATE_UNDECIDED);
    CHECK(isinf(gate_bound(&d, GATE_MISSED)));
    CHECK_EQ_INT(gate_runs_wanted(&d, 0.01, 1), 3);
}

TEST(what_no_number_of_runs_decides_is_told)
{
    const double old[] = {1, 9, 1, 9}, now[] = {9, 1, 9, 1};
    double room[4];
    struct gate_difference d = gate_paired(old, now, 4, room);

    d.allowed = 0.01;
    CHECK_EQ_INT(gate_runs_wanted(&d, 0.01, 4), GATE_RUNS_MOST);
    d.allowed = 2;
    CHECK(gate_runs_wanted(&d, 0.01, 4) < GATE_RUNS_MOST);
}

/* Of disturbed runs ranks explain more by chance than the normal distribution does that is as wide in its middle. */
TEST(the_runs_that_are_wanted_are_those_that_ranks_want)
{
    enum { N = 30 };
    double old[N], now[N], room[N], level = 0.0005;

    for (int i = 0; i < N; i++) {
        old[i] = 100;
        now[i] = 100 + (i % 3 == 0 ? (i % 2 ? 1 : -1) * (20 + i) : 0.5 * (i - 15));
    }
    struct gate_difference d = gate_paired(old, now, N, room);

    d.allowed = 3.5;
    CHECK(gate_judge(&d, level, GATE_MISSED) == GATE_UNDECIDED);
    double wanted = (double)gate_runs_wanted(&d, level, N);

    CHECK(wanted < GATE_RUNS_MOST);
    /* Whatever their rise is: what chance explains and what is not ruled out fit into the tolerance. */
    double width = (gate_bound(&d, GATE_MISSED) - signed_rank_below(d.sorted, N, level)) * sqrt(N / wanted);

    if (!(width <= 1.02 * d.allowed))
        TEST_FAIL("%.0f runs: %g of %g is open", wanted, width, d.allowed);
}

TEST(looks_spend_no_more_than_there_is)
{
    double before = 0;

    for (double share = 0.1; share <= 1.01; share += 0.1) {
        CHECK(gate_spent(share) >= before);
        before = gate_spent(share);
    }
    CHECK_NEAR(gate_spent(1), GATE_FAMILY, 1e-12);
    CHECK_NEAR(gate_spent(2), GATE_FAMILY, 1e-12);
    CHECK_NEAR(gate_missed(GATE_FAMILY), GATE_MISSED, 1e-12);
}

/* When a race of pairs that take so many seconds looks, and how it ends; what is spent is the hundredth. */
struct looked {
    size_t at[20], n, pairs;
    double seconds;
};

static struct looked look_until_the_end(struct gate_looks l, double pair)
{
    struct looked r = {0};
    double family, spent = 0;

    while (!l.last && r.pairs < 1000) {
        r.pairs++;
        r.seconds = pair * (double)r.pairs;
        if (!gate_look(&l, r.pairs, r.seconds, &family))
            continue;
        CHECK(family > 0);
        spent += family;
        r.at[r.n++] = r.pairs;
    }
    CHECK_NEAR(spent, GATE_FAMILY, 1e-12);
    return r;
}

TEST(a_race_of_long_runs_goes_on_where_nobody_said_when_to_end)
{
    const struct gate_looks set = {.budget = 120}, patient = {.budget = 120, .patience = 300};
    struct looked r = look_until_the_end(set, 12);

    CHECK(r.pairs == 10 && r.n == 3 && r.at[0] == 4 && r.at[1] == 6 && r.at[2] == 10);
    r = look_until_the_end(patient, 12);
    CHECK(r.pairs == 16 && r.n == 4 && r.at[2] == 10 && r.at[3] == 16);
    /* Runs of which enough fit into the time. */
    r = look_until_the_end(patient, 4);
    CHECK(r.pairs == 30 && r.at[r.n - 1] == 30);
    /* Runs so long that the patience ends first. */
    r = look_until_the_end(patient, 40);
    CHECK(r.pairs == 8 && r.n == 2 && r.at[0] == 4 && r.at[1] == 8);
    r = look_until_the_end(patient, 130);
    CHECK(r.pairs == 3 && r.n == 1);
    r = look_until_the_end((struct gate_looks){.fixed = 5}, 100);
    CHECK(r.pairs == 5 && r.n == 1);
}

/* Where the time is to be held no pair begins that would end behind it, and the last look has what is left. */
TEST(a_race_that_is_to_end_in_time)
{
    struct looked r = look_until_the_end((struct gate_looks){.budget = 60, .pair = 32}, 32);

    CHECK(r.pairs == 1 && r.n == 1);
    r = look_until_the_end((struct gate_looks){.budget = 131, .pair = 12}, 12);
    CHECK(r.pairs == 10 && r.at[r.n - 1] == 10);
    r = look_until_the_end((struct gate_looks){.budget = 132, .pair = 12}, 12);
    CHECK(r.pairs == 11 && r.at[r.n - 1] == 11);
    CHECK(!gate_pair_fits(&(struct gate_looks){.budget = 60, .pair = 32}, 32));
    CHECK(gate_pair_fits(&(struct gate_looks){.budget = 64, .pair = 32}, 32));
    CHECK(gate_pair_fits(&(struct gate_looks){.budget = 60}, 59));
    CHECK(gate_pair_fits(&(struct gate_looks){.fixed = 9, .pair = 32}, 1000));
}

/* A side of one run is taken to scatter as the other one does, whichever it is. */
TEST(one_run_on_a_side)
{
    struct gate_difference d = gate_apart(1, 0.1, 5, 1.2, 0, 1), swapped = gate_apart(1.2, 0, 1, 1, 0.1, 5);

    CHECK_NEAR(d.error, 0.1 * sqrt(1.0 / 5 + 1), 1e-15);
    CHECK_NEAR(swapped.error, d.error, 1e-15);
    CHECK_NEAR(d.df, 4, 0);
    CHECK_NEAR(swapped.df, 4, 0);
}

/* A fall of once its interval may be chance; of more than twice that it is none. */
TEST(a_fall_beyond_doubt)
{
    struct gate_difference d = gate_apart(1, 0.1, 5, 1, 0.1, 5);
    double interval = gate_interval(&d);

    d.rise = -1.9 * interval;
    CHECK(!gate_fell(&d));
    d.rise = -2.1 * interval;
    CHECK(gate_fell(&d));
}

/* A row takes no more of the level than the chance with which it exceeds half its tolerance: Student's t of 4 degrees
 * is above 2.131847 with probability 0.05, above 8.610302 with 0.0005. */
TEST(the_level_counts_chances_at_half_the_tolerance)
{
    struct gate_difference rows[2] = {{.error = 1, .df = 4, .allowed = 2 * 2.131847},
                                      {.error = 1, .df = 4, .allowed = 2 * 8.610302}};

    CHECK_NEAR(gate_level(rows, 2, 0.01), 0.01 - 0.0005, 1e-6);
}

/* At an early look little may be spent, and by that little is ruled out; what fell beyond doubt is decided all the
 * same. */
TEST(what_fell_keeps_no_early_look_open)
{
    struct gate_difference d = {.old = 1, .now = 0.7, .rise = -0.3, .error = 0.03, .df = 3, .n = 4, .allowed = 0.1};

    CHECK(gate_bound(&d, 1e-6) > d.allowed);
    CHECK(gate_judge(&d, 1e-6, 1e-6) == GATE_OK);
    d.rise = -0.1;
    CHECK(gate_judge(&d, 1e-6, 1e-6) == GATE_UNDECIDED);
}

/* What ranks say is what signed_rank.h says: bounds, interval, and the values of a typical run, of few runs the mean.
 */
TEST(ranks_judge_many_pairs)
{
    enum { N = 30 };
    double old[N], now[N], room[N], sorted[N];

    for (int i = 0; i < N; i++) {
        old[i] = i == 7 ? 50 : 1 + 0.01 * (i % 5);
        now[i] = old[i] + 0.2 + 0.01 * (i % 7);
    }
    struct gate_difference d = gate_paired(old, now, N, room);

    CHECK(d.sorted && d.old < 1.1 && d.now < 1.4);
    CHECK_NEAR(d.rise, signed_rank_estimate(d.sorted, N), 1e-12);
    CHECK_NEAR(gate_bound(&d, 0.03), signed_rank_above(d.sorted, N, 0.03), 1e-12);
    CHECK_NEAR(gate_interval(&d), (signed_rank_above(d.sorted, N, 0.025) - signed_rank_below(d.sorted, N, 0.025)) / 2,
               1e-12);
    /* A row takes of the level what it may fail by at half its tolerance. */
    d.allowed = 2 * (d.rise - signed_rank_below(d.sorted, N, 0.004)) + 1e-9;
    struct gate_difference rows[] = {d, {.error = 1, .df = 4, .allowed = 2.2}};
    double level = gate_level(rows, 2, 0.01);

    CHECK(level > 0.005 && level < 0.0099);
    CHECK_NEAR(gate_typical((const double[]){1, 1, 4}, 3, sorted), 2, 1e-12);
}

/* Where sampling is what is not known, more runs tell more. */
TEST(more_runs_sample_more)
{
    struct gate_difference d = {.old = 1, .now = 1, .error = 0.001, .sampling = 0.08, .df = 5, .n = 6, .allowed = 0.1};

    CHECK(gate_judge(&d, 0.001, GATE_MISSED) == GATE_UNDECIDED);
    CHECK(gate_runs_wanted(&d, 0.001, 6) < 1000);
}

TEST_MAIN
