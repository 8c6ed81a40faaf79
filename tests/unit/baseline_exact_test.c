/* SPDX-License-Identifier: BSD-3-Clause */
/* Baselines of what is counted: the same in each run, or another in each; and of time that is counted, but waited for.
 */
#include "repl/baseline/baseline.h"
#include "tests/unit/baseline_values.h"
#include "tests/unit/test.h"
#include <string.h>

static struct baseline_value counted(const char *path, double mean, double sd, unsigned n)
{
    struct baseline_value v = exact(path, mean);

    v.value_sd = sd;
    v.runs = n;
    return v;
}

static void check_values(const struct baseline_value *before, size_t old_count, const struct baseline_value *now,
                         size_t count, enum check_outcome want, const char *text)
{
    AUTO_FREE char *all = NULL;

    CHECK_EQ_INT(judge_all(before, old_count, now, count, 0.002, &all), want);
    if (!strstr(all, text))
        CHECK_EQ_STR(all, text);
}

static void check_one(struct baseline_value before, struct baseline_value now, enum check_outcome want,
                      const char *text)
{
    check_values(&before, 1, &now, 1, want, text);
}

TEST(exact_values)
{
    check_one(exact("procedure f", 1e6), exact("procedure f", 1.004e6), CHECK_PASS,
              "seen always: a rise of more than 0.5%");
    check_one(exact("procedure f", 1e6), exact("procedure f", 1.006e6), CHECK_FAIL,
              "rose: alloc_bytes of procedure f: 1000000 B -> 1006000 B, +0.6%");
}

TEST(counts_that_differ_from_run_to_run)
{
    struct baseline_value before = counted("procedure f", 1e6, 15e3, 5);

    /* Five runs that differ by 1.5 % rise by 1.3 % by chance. */
    check_one(before, counted("procedure f", 1.013e6, 15e3, 5), CHECK_INCONCLUSIVE,
              "a rise of up to 3.06% is not ruled out, its tolerance is 0.5");
    check_one(before, counted("procedure f", 1.013e6, 0, 1), CHECK_INCONCLUSIVE, "is not ruled out");
    check_one(before, counted("procedure f", 1.2e6, 15e3, 5), CHECK_FAIL,
              "rose: alloc_bytes of procedure f: 1000000 B -> 1200000 B, +20% [+17.8, +22.2]");
    /* What they differ by hardly matters: the means are compared as they are. */
    check_one(counted("procedure f", 1e6, 10, 5), counted("procedure f", 1.004e6, 10, 5), CHECK_PASS,
              "seen always: a rise of more than 0.5%");
    check_one(counted("procedure f", 1e6, 10, 5), counted("procedure f", 1.006e6, 10, 5), CHECK_FAIL, "+0.6%");
}

TEST(their_tolerance_is_as_wide_as_they_differ)
{
    struct baseline_value v = counted("procedure f", 1e6, 15e3, 5);
    struct baseline_query q = {0};
    double most;

    v.tolerance = baseline_tolerance(&(struct baseline_query){0}, &v);
    CHECK_NEAR(v.tolerance, 0.06, 1e-12);
    check_one(v, counted("procedure f", 1.013e6, 15e3, 5), CHECK_PASS,
              "ruled out in 19 of 20 cases: a rise of 3.06% of what is counted and differs from run to run");
    vec_push(&q.values, v);
    CHECK_EQ_INT(baseline_scattered(&q, &most), 1);
    CHECK_NEAR(most, 0.06, 1e-12);
    v = counted("procedure f", 1e6, 100, 5);
    CHECK_NEAR(baseline_tolerance(&(struct baseline_query){0}, &v), 0.005, 1e-12);
    vec_deinit(&q.values);
}

TEST(a_line_that_was_taken_out_is_no_extra_work)
{
    /* As much in all as before: of main, which has all, and of what `share` says. */
    struct baseline_value all = exact("procedure main", 1e6), part = exact("procedure f", 4e5);

    all.share = 1;
    part.share = 0.4;
    const struct baseline_value now[] = {all, part};

    check_values(&all, 1, now, 2, CHECK_INCONCLUSIVE, "cannot tell: 1 new value may be no extra work");
    struct baseline_value more = exact("procedure main", 1.4e6);

    more.share = 1;
    const struct baseline_value extra[] = {more, part};

    check_values(&all, 1, extra, 2, CHECK_FAIL, "new: alloc_bytes of procedure f");
}

TEST(time_that_waits_depends_on_the_hour)
{
    struct baseline_value v = share("procedure MPI_Init", 0.279, INFINITY), now;

    v.metric = "mpi_time";
    v.dim = DIM_SECONDS;
    CHECK(baseline_waits("mpi_time.x") && baseline_waits("lock_wait") && !baseline_waits("cputime") &&
          !baseline_waits("mpi_times"));
    v.tolerance = baseline_tolerance(&(struct baseline_query){0}, &v);
    CHECK_NEAR(v.tolerance, 0.32, 1e-12);
    now = v;
    now.share = 0.398;
    check_one(v, now, CHECK_PASS, "ruled out");
    /* An hour may make more of it than that. */
    now.share = 0.6;
    check_one(v, now, CHECK_INCONCLUSIVE, "cannot tell: how long calls wait for others depends on what else runs");
    const struct baseline_value before[] = {v, exact("procedure f", 1e6)}, after[] = {now, exact("procedure f", 1e6)},
                                more[] = {now, exact("procedure f", 1.1e6)};

    check_values(before, 2, after, 2, CHECK_PASS, "not judged: mpi_time of procedure MPI_Init: 27.9% -> 60.0%");
    check_values(before, 2, more, 2, CHECK_FAIL, "rose: alloc_bytes of procedure f");
}

TEST_MAIN
