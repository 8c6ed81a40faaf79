/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Baselines: the judgement. The statistical checks are deterministic (fixed seed); their
 * bounds leave room for three standard deviations of the number of events that is counted.
 */
#include "common/hash.h"
#include "repl/baseline/baseline.h"
#include "tests/unit/baseline_values.h"
#include "tests/unit/test.h"
#include "tests/unit/uniform.h"
#include <math.h>

/* *line: the first of them. */
static enum check_outcome judge(struct baseline_value before, struct baseline_value now, char **line)
{
    enum check_outcome outcome = judge_all(&before, 1, &now, 1, 0.01 / 20, line);

    (*line)[strcspn(*line, "\n")] = 0;
    return outcome;
}

static void check_judgement(struct baseline_value before, struct baseline_value now, enum check_outcome want,
                            const char *text)
{
    AUTO_FREE char *line = NULL;

    CHECK_EQ_INT(judge(before, now, &line), want);
    if (text)
        CHECK_EQ_STR(line, text);
}

TEST(shares_of_one_run_each)
{
    check_judgement(share("procedure f", 0.3, 20000), share("procedure f", 0.3, 20000), CHECK_PASS,
                    "ruled out in 19 of 20 cases: a rise of 6.1 points; one of 16.9 would fail in 9 of 10");
    check_judgement(share("procedure f", 0.3, 20000), share("procedure f", 0.46, 20000), CHECK_FAIL,
                    "rose: cputime.x of procedure f: 30.0% -> 46.0%, +16.0 points [+8.3, +23.7]");
    check_judgement(share("procedure f", 0.3, 30), share("procedure f", 0.3, 30), CHECK_INCONCLUSIVE,
                    "cannot tell: 1 value: record several runs, for the baseline too (hq record --runs 5)");
    check_judgement(
        share("procedure f", 0.3, INFINITY), share("procedure f", 0.3, NAN), CHECK_INCONCLUSIVE,
        "cannot tell: 1 value: record several runs, for the baseline too (hq record --runs 5), or longer runs, "
        "or a higher rate");
    check_judgement(share("procedure f", 0.5, 20000), share("procedure f", 0.2, 20000), CHECK_PASS,
                    "fell: cputime.x of procedure f: 50.0% -> 20.0%, -30.0 points [-37.5, -22.5]");
    check_judgement(share("procedure f", 0.3, 20000), share("procedure g", 0.6, 20000), CHECK_FAIL,
                    "new: cputime.x of procedure g: at most 0.5% -> 60.0%, +59.5 points [+52.2, +66.8]");
    /* Two samples are no rise of 13 points, though half a percent of fifteen would be none; two hundred are. */
    check_judgement(share("procedure f", 0.005, 14000), share("procedure f", 0.133, 15), CHECK_INCONCLUSIVE, NULL);
    check_judgement(share("procedure f", 0.005, 14000), share("procedure f", 0.133, 1500), CHECK_FAIL, NULL);
    /* Less than all that the baseline has, and yet new: nothing below half a percent is kept. */
    check_judgement(share("procedure f", 0.9, 20000), share("procedure g", 0.5, 20000), CHECK_INCONCLUSIVE, NULL);
}

enum { ROWS_MAX = 6 };

/* Judges several rows; *line becomes what is said of new ones, "" if nothing is. */
static enum check_outcome judge_rows(const struct baseline_value *before, const struct baseline_value *now, char **line)
{
    AUTO(arena_deinit) struct arena arena = {0};
    struct baseline_query a = {.text = "q"}, b = {.text = "q"};
    struct check_lines lines = {0};

    for (int i = 0; i < ROWS_MAX && before[i].path; i++)
        vec_push(&a.values, before[i]);
    for (int i = 0; i < ROWS_MAX && now[i].path; i++)
        vec_push(&b.values, now[i]);
    enum check_outcome outcome = baseline_judge(&a, &b, 0.01 / 20, &arena, &lines, NULL);

    *line = xstrdup("");
    for (size_t i = 0; i < lines.len; i++)
        if (strstr(lines.data[i], "no extra work") || strstr(lines.data[i], "new:")) {
            free(*line);
            *line = xstrdup(lines.data[i]);
        }
    vec_deinit(&lines);
    vec_deinit(&a.values);
    vec_deinit(&b.values);
    return outcome;
}

static struct baseline_value inclusive(const char *path, double x)
{
    struct baseline_value v = share(path, x, 20000);

    v.metric = "cputime";
    return v;
}

static void check_rows(const struct baseline_value *before, const struct baseline_value *now, enum check_outcome want,
                       const char *text)
{
    AUTO_FREE char *line = NULL;

    CHECK_EQ_INT(judge_rows(before, now, &line), want);
    if (!strstr(line, text))
        TEST_FAIL("%s", line);
}

/* A function of 24 points that is new: extra work takes from all rows; taken from one it was a part of that; with the
 * others as they were, its line has been taken out of the file. */
TEST(what_others_had_before_is_no_extra_work)
{
    const struct baseline_value before[ROWS_MAX] = {share("procedure f", 0.6, 20000), share("procedure g", 0.4, 20000)},
                                extra[ROWS_MAX] = {share("procedure f", 0.46, 20000), share("procedure g", 0.3, 20000),
                                                   share("procedure h", 0.24, 20000)},
                                split[ROWS_MAX] = {share("procedure f", 0.36, 20000), share("procedure g", 0.4, 20000),
                                                   share("procedure h", 0.24, 20000)},
                                cut[ROWS_MAX] = {share("procedure f", 0.46, 20000), share("procedure g", 0.3, 20000)},
                                own[ROWS_MAX] = {share("procedure f", 0.6, 20000), inclusive("procedure f", 0.6),
                                                 share("procedure write", 0.2, 20000)},
                                more[ROWS_MAX] = {share("procedure f", 0.42, 20000), inclusive("procedure f", 0.42),
                                                  share("procedure write", 0.44, 20000),
                                                  inclusive("procedure copy", 0.3)},
                                wrapped[ROWS_MAX] = {share("procedure f", 0.6, 20000), inclusive("procedure f", 0.6),
                                                     inclusive("procedure wrapper", 0.6)};

    check_rows(before, extra, CHECK_FAIL, "new: cputime.x of procedure h: at most 0.5% -> 24.0%");
    check_rows(before, split, CHECK_INCONCLUSIVE, "cannot tell: 1 new value may be no extra work");
    check_rows(cut, extra, CHECK_INCONCLUSIVE, "cannot tell: 1 new value may be no extra work");
    /* It does little itself, and what it calls rose. */
    check_rows(own, more, CHECK_FAIL, "new: cputime of procedure copy: at most 0.5% -> 30.0%");
    check_rows(own, wrapped, CHECK_INCONCLUSIVE, "cannot tell: 1 new value may be no extra work");
}

TEST(rows_outside_of_the_filter_are_not_judged)
{
    struct baseline_value big = share("procedure f", 0.6, 20000);

    big.outside = true;
    check_judgement(share("procedure f", 0.3, 20000), big, CHECK_PASS, "");
}

TEST(gone_is_named_and_passes)
{
    check_judgement(share("procedure f", 0.3, 20000), share("procedure g", 0.004, 20000), CHECK_PASS,
                    "gone: cputime.x of procedure f, was 30.0%");
}

/* Judges three procedures that were, of 50, 40 and `third` percent, against three that are. */
static enum check_outcome judge_three(double third, const char *name, double now_third, char **text)
{
    const struct baseline_value before[] = {runs("procedure f", 0.5, 0.01, 5),
                                            runs("procedure g", 0.5 - third, 0.01, 5),
                                            runs("procedure h", third, 0.01, 5)},
                                now[] = {runs("procedure f", (1 - now_third) * 0.5 / (1 - third), 0.01, 5),
                                         runs("procedure g", (1 - now_third) * (0.5 - third) / (1 - third), 0.01, 5),
                                         runs(name, now_third, 0.01, 5)};

    return judge_all(before, third > 0 ? 3 : 2, now, 3, 0.01 / 20, text);
}

/* A procedure that takes a third of the time and was not there is a rise, though each that was takes more. */
TEST(what_is_new_is_judged_however_large_the_others_are)
{
    AUTO_FREE char *fresh = NULL, *renamed = NULL, *worse = NULL, *stripped = NULL;

    CHECK_EQ_INT(judge_three(0, "procedure n", 0.32, &fresh), CHECK_FAIL);
    CHECK(strstr(fresh, "new: cputime of procedure n: at most 0.5% -> 32.0%"));
    CHECK_EQ_INT(judge_three(0.2, "procedure n", 0.2, &renamed), CHECK_INCONCLUSIVE);
    CHECK(strstr(renamed, "1 new value may be of what is gone"));
    CHECK(strstr(renamed, "cputime of procedure h (20.0%) is gone, procedure n (20.0%) is new"));
    CHECK(strstr(renamed, "if so, write the baseline again"));
    CHECK_EQ_INT(judge_three(0.2, "procedure app+0x11a0", 0.2, &stripped), CHECK_INCONCLUSIVE);
    CHECK(strstr(stripped, "is the program stripped?") && !strstr(stripped, "--update"));
    CHECK_EQ_INT(judge_three(0.2, "procedure n", 0.4, &worse), CHECK_FAIL);
    CHECK(strstr(worse, "gone: cputime of procedure h"));
}

TEST(shares_over_runs)
{
    struct baseline_value few = runs("procedure f", 0.4, 0.01, 5);

    /* As far apart as 2,000 samples of a run make them: hours are taken to be alike. */
    few.samples = 10000;
    struct baseline_value before = few;
    before.share = 0.3;
    before.value = 1.2;
    check_judgement(before, before, CHECK_PASS,
                    "ruled out in 19 of 20 cases: a rise of 1.2 points; one of 5.9 would fail in 9 of 10");
    check_judgement(before, few, CHECK_FAIL,
                    "rose: cputime of procedure f: 30.0% -> 40.0% (1.2 s -> 1.6 s), +10.0 points [+8.5, +11.5]");
    check_judgement(runs("procedure f", 0.3, 0.1, 3), runs("procedure f", 0.4, 0, 1), CHECK_INCONCLUSIVE, NULL);
}

/* Of a program whose runs differ by much more than sampling explains another hour may differ by more than its runs. */
TEST(hours_differ_as_runs_do)
{
    struct baseline_value now = runs("procedure f", 0.36, 0.003, 5);

    now.value = 2.8 * 0.36 / 0.64; /* the rest takes what it took */
    check_judgement(runs("procedure f", 0.3, 0.003, 5), now, CHECK_FAIL, NULL);
    check_judgement(runs("procedure f", 0.3, 0.016, 5), runs("procedure f", 0.38, 0.016, 5), CHECK_INCONCLUSIVE, NULL);
}

/* ---- several values ---- */

TEST(what_cannot_be_told_hides_no_rise)
{
    const struct baseline_value before[] = {share("procedure f", 0.3, 20000), share("procedure g", 0.3, 30)},
                                now[] = {share("procedure f", 0.46, 20000), share("procedure g", 0.3, 30)};
    AUTO_FREE char *text = NULL;

    CHECK_EQ_INT(judge_all(before, 2, now, 2, 0.01 / 20, &text), CHECK_FAIL);
    CHECK(strstr(text, "rose: cputime.x of procedure f") && strstr(text, "cannot tell: 1 value"));
}

/* Of amounts a baseline keeps no row below half a percent of the largest: what is new was less than that. */
TEST(new_amounts)
{
    AUTO_FREE char *small = NULL, *large = NULL;
    const struct baseline_value before = exact("procedure f", 1024000),
                                little[] = {exact("procedure f", 1024000), exact("procedure g", 5000)},
                                much[] = {exact("procedure f", 1024000), exact("procedure g", 512000)};

    CHECK_EQ_INT(judge_all(&before, 1, little, 2, 0.01 / 20, &small), CHECK_PASS);
    CHECK_EQ_INT(judge_all(&before, 1, much, 2, 0.01 / 20, &large), CHECK_FAIL);
    CHECK(strstr(large, "new: alloc_bytes of procedure g: at most 5120 B -> 512000 B\n"));
}

TEST(the_former_name_is_that_of_the_nearest)
{
    const struct baseline_value before[] = {runs("procedure f", 0.56, 0.01, 5), runs("procedure h", 0.22, 0.01, 5),
                                            runs("procedure i", 0.2, 0.01, 5)},
                                now[] = {runs("procedure f", 0.56, 0.01, 5), runs("procedure n", 0.217, 0.01, 5)};
    AUTO_FREE char *text = NULL;

    CHECK_EQ_INT(judge_all(before, 3, now, 2, 0.01 / 20, &text), CHECK_INCONCLUSIVE);
    CHECK(strstr(text, "procedure h (22.0%) is gone, procedure n (21.7%) is new"));
}

/* How many runs were told to decide a value of so many, before and now. */
static int runs_wanted(unsigned old_runs, unsigned now_runs)
{
    const struct baseline_value before = runs("procedure f", 0.3, 0.03, old_runs),
                                now = runs("procedure f", 0.3, 0.03, now_runs);
    AUTO_FREE char *text = NULL;
    int wanted = 0;

    judge_all(&before, 1, &now, 1, 0.01 / 20, &text);
    sscanf(text, "cannot tell: 1 value: about %d runs", &wanted);
    return wanted;
}

/* A side with more runs than the other makes no more of them necessary. */
TEST(runs_that_would_decide)
{
    CHECK(runs_wanted(3, 3) > 0);
    CHECK_EQ_INT(runs_wanted(5, 3), runs_wanted(3, 5));
    CHECK(runs_wanted(5, 3) <= runs_wanted(3, 3));
}

/* ---- seconds ---- */

static struct baseline_whole whole(double seconds, double spread, unsigned n)
{
    return (struct baseline_whole){seconds, spread, n};
}

static void check_seconds(struct baseline_value before, struct baseline_value now, enum check_outcome want,
                          const char *text)
{
    AUTO(arena_deinit) struct arena arena = {0};
    struct baseline_query a = {.text = "q"}, b = {.text = "q"};
    struct check_lines lines = {0};

    vec_push(&a.values, before);
    vec_push(&b.values, now);
    CHECK_EQ_INT(baseline_seconds(&a, &b, &arena, &lines), want);
    CHECK(lines.len == 1 && strstr(lines.data[0], text) == lines.data[0]);
    vec_deinit(&lines);
    vec_deinit(&a.values);
    vec_deinit(&b.values);
}

/* What is seen of a slowdown of all parts alike goes by how runs differ, and has a least and a most. */
TEST(slower_in_all_parts_alike)
{
    struct baseline_whole calm = whole(4, 0.01, 5), usual = whole(4, 0.1, 5), wild = whole(4, 0.3, 5),
                          one = whole(4, 0, 1);

    CHECK_NEAR(baseline_alike(&calm, &calm), BASELINE_ALIKE_LEAST, 1e-9);
    CHECK_NEAR(baseline_alike(&usual, &usual), 1.8595 * 0.1 * sqrt(2.4), 1e-4);
    CHECK_NEAR(baseline_alike(&wild, &wild), BASELINE_ALIKE_MOST, 1e-9);
    CHECK_NEAR(baseline_alike(&usual, &one), 2.1318 * 0.1 * sqrt(3.2), 1e-4);
    CHECK_NEAR(baseline_alike(&one, &one), BASELINE_ALIKE_MOST, 1e-9);

    struct baseline_value before = runs("procedure main", 1, 0.03, 5), now = before;

    /* As the hour may make it: of the pool of doc/checks.md one check in ten had 21 % more. */
    now.value = 4.84;
    check_seconds(before, now, CHECK_PASS,
                  "all cputime: 4 s -> 4.84 s in a run, +21.0%. What became slower in all its");
    now.value = 5.04;
    check_seconds(before, now, CHECK_INCONCLUSIVE, "cannot tell: all cputime: 4 s -> 5.04 s in a run, +26.0%");
}

/* ---- over many runs ---- */

enum { ROWS = 60 };

/*
 * n samples of a program whose procedures have these shares, asked for in two views: each alone, and with what follows
 * it, as a chain of callers has it; main twice.
 */
static void draw(const double *shares, int n, uint64_t *state, struct baseline *b)
{
    struct baseline_query *alone = baseline_add(b, "procedures"), *chain;
    int counts[ROWS] = {0};

    for (int i = 0; i < n; i++) {
        double u = uniform_of(state);
        int row = 0;

        while (row < ROWS - 1 && u >= shares[row])
            u -= shares[row++];
        counts[row]++;
    }
    for (int row = 0; row < ROWS; row++)
        if (counts[row] >= n / 200.0)
            vec_push(&alone->values, share(arena_printf(&b->arena, "%d", row), (double)counts[row] / n, n));
    chain = baseline_add(b, "tree");
    for (int row = ROWS - 1, sum = 0; row >= 0; row--) {
        sum += counts[row];
        if (sum >= n / 200.0)
            vec_push(&chain->values, share(arena_printf(&b->arena, "%d and on", row), (double)sum / n, n));
    }
    vec_push(&chain->values, share("main", 1, n));
    vec_push(&chain->values, share("thread", 1, n));
}

static bool fails(const struct baseline *a, const struct baseline *b)
{
    bool failed = false;

    for (size_t q = 0; q < a->queries.len; q++) {
        AUTO(arena_deinit) struct arena arena = {0};
        struct check_lines lines = {0};
        double alpha = baseline_alpha(a, &b->queries.data[q]);

        failed |= baseline_judge(&a->queries.data[q], &b->queries.data[q], alpha, &arena, &lines, NULL) == CHECK_FAIL;
        vec_deinit(&lines);
    }
    return failed;
}

static int failures(const double *first, const double *second, int n, int runs, uint64_t *state)
{
    int failed = 0;

    for (int i = 0; i < runs; i++) {
        AUTO(baseline_deinit) struct baseline a = {0}, b = {0};

        draw(first, n, state, &a);
        draw(second, n, state, &b);
        failed += fails(&a, &b);
    }
    return failed;
}

/* A first procedure, and others each with `part` of what is left. */
static void shares_of(double *shares, double first, double part)
{
    double rest = 1 - first;

    shares[0] = first;
    for (int i = 1; i < ROWS; i++) {
        shares[i] = i == ROWS - 1 ? rest : rest * part;
        rest -= shares[i];
    }
}

/* At most one unchanged run in a hundred fails, and three deviations: few procedures, many, and many small ones. */
TEST(unchanged_programs_pass)
{
    static const struct {
        double first, part;
    } programs[] = {{0.3, 0.3}, {0.4, 0.1}, {0.02, 0.02}};
    uint64_t state = 42;

    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++)
        for (int n = 100; n <= 6400; n *= 4) {
            double shares[ROWS];
            int runs = n > 1000 ? 100 : 600;

            shares_of(shares, programs[p].first, programs[p].part);
            int failed = failures(shares, shares, n, runs, &state);

            if (failed > runs / 100.0 + 3 * sqrt(runs / 100.0))
                TEST_FAIL("%d of %d unchanged runs of %d samples fail", failed, runs, n);
        }
}

/* A procedure that became more than twice as slow: 30 % of the time is 52 % now. */
TEST(slower_programs_fail)
{
    double before[ROWS], after[ROWS];
    uint64_t state = 43;

    shares_of(before, 0.3, 0.3);
    shares_of(after, 0.52, 0.3);
    CHECK_EQ_INT(failures(before, after, 6400, 100, &state), 100);
}

TEST(means_and_spread_over_runs)
{
    AUTO(baseline_deinit) struct baseline b = {0};
    struct baseline_query out = {0};
    const double shares[3][2] = {{0.3, 0.1}, {0.4, 0}, {0.5, 0}};

    for (int i = 0; i < 3; i++) {
        struct baseline_query *q = baseline_add(&b, i ? i > 1 ? "c" : "b" : "a");

        for (int row = 0; row < 2; row++)
            if (shares[i][row] > 0)
                vec_push(&q->values, share(row ? "procedure g" : "procedure f", shares[i][row], 100));
    }
    const struct baseline_query *runs_of[] = {&b.queries.data[0], &b.queries.data[1], &b.queries.data[2]};

    baseline_average(&out, runs_of, 3, 0.01);
    CHECK_EQ_INT(out.values.len, 2);
    CHECK_NEAR(out.values.data[0].share, 0.4, 1e-12);
    CHECK_NEAR(out.values.data[0].share_sd, 0.1, 1e-12);
    CHECK_NEAR(out.values.data[0].samples, 300, 0);
    /* Nothing in two of the runs. */
    CHECK_NEAR(out.values.data[1].share, 0.1 / 3, 1e-12);
    CHECK_NEAR(out.values.data[1].share_sd, 0.1 / sqrt(3), 1e-12);
    CHECK_EQ_INT(out.values.data[1].runs, 3);
    vec_deinit(&out.values);
}

/* One of five runs that is of something else is named; one that is a little off, or one of three, is not. */
TEST(a_run_that_is_far_from_the_others)
{
    static const double shares[][5] = {{0.4, 0.41, 0.39, 0.87, 0.4}, {0.4, 0.41, 0.39, 0.46, 0.4}};

    for (int i = 0; i < 2; i++) {
        struct baseline_query all[5] = {0}, means = {0};
        const struct baseline_query *list[5];
        struct baseline_odd odd;

        for (int run = 0; run < 5; run++) {
            vec_push(&all[run].values, share("procedure f", shares[i][run], 1000));
            vec_push(&all[run].values, share("procedure g", 1 - shares[i][run], 1000));
            list[run] = &all[run];
        }
        baseline_average(&means, list, 5, 0);
        CHECK(baseline_odd_run(&means, list, 5, &odd) == (i == 0));
        CHECK(i > 0 || odd.run == 3);
        CHECK(!baseline_odd_run(&means, list + 2, 3, &odd));
        vec_deinit(&means.values);
        for (int run = 0; run < 5; run++)
            vec_deinit(&all[run].values);
    }
}

TEST_MAIN
