/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Baselines: reading what was written, and the judgement. The statistical checks are deterministic (fixed seed); their
 * bounds leave room for three standard deviations of the number of events that is counted.
 */
#include "common/file.h"
#include "common/hash.h"
#include "repl/baseline.h"
#include "tests/unit/test.h"
#include <math.h>

static struct baseline_value share(const char *path, double x, double samples)
{
    return (struct baseline_value){
        .metric = "cputime.x", .path = path, .share = x, .samples = samples, .tolerance = 0.2};
}

static struct baseline_value runs(const char *path, double x, double sd, unsigned n)
{
    return (struct baseline_value){.metric = "cputime",
                                   .path = path,
                                   .share = x,
                                   .share_sd = sd,
                                   .samples = 100000,
                                   .runs = n,
                                   .value = 4 * x,
                                   .value_sd = 4 * sd,
                                   .dim = DIM_SECONDS,
                                   .tolerance = 0.1};
}

static struct baseline_value exact(const char *path, double x)
{
    return (struct baseline_value){.metric = "alloc_bytes",
                                   .path = path,
                                   .absolute = true,
                                   .share = 0.5,
                                   .samples = INFINITY,
                                   .value = x,
                                   .dim = DIM_BYTES,
                                   .tolerance = 0.005};
}

static enum check_outcome judge(struct baseline_value before, struct baseline_value now, char **line)
{
    AUTO(arena_deinit) struct arena arena = {0};
    struct baseline_query a = {.text = "q"}, b = {.text = "q"};
    struct check_lines lines = {0};

    vec_push(&a.values, before);
    vec_push(&b.values, now);
    enum check_outcome outcome = baseline_judge(&a, &b, 0.01 / 20, &arena, &lines, NULL);

    *line = xstrdup(lines.len ? lines.data[0] : "");
    vec_deinit(&lines);
    vec_deinit(&a.values);
    vec_deinit(&b.values);
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
                    "ruled out in 19 of 20 cases: a rise of 6.1 points");
    check_judgement(share("procedure f", 0.3, 20000), share("procedure f", 0.46, 20000), CHECK_FAIL,
                    "rose: cputime.x of procedure f: 30.0% -> 46.0%, +16.0 points [+8.3, +23.7]");
    check_judgement(share("procedure f", 0.3, 30), share("procedure f", 0.3, 30), CHECK_INCONCLUSIVE,
                    "cannot tell: 1 value: record several runs, for the baseline too (hq record --runs 5)");
    check_judgement(
        share("procedure f", 0.3, INFINITY), share("procedure f", 0.3, NAN), CHECK_INCONCLUSIVE,
        "cannot tell: 1 value: record several runs, for the baseline too (hq record --runs 5), or longer runs, "
        "or a higher rate");
    check_judgement(share("procedure f", 0.5, 20000), share("procedure f", 0.2, 20000), CHECK_PASS,
                    "fell: cputime.x of procedure f: 50.0% -> 20.0%");
    check_judgement(share("procedure f", 0.3, 20000), share("procedure g", 0.6, 20000), CHECK_FAIL,
                    "new: cputime.x of procedure g: 0.5% -> 60.0%, +59.5 points [+52.2, +66.8]");
    /* Two samples are no rise of 13 points, though half a percent of fifteen would be none; two hundred are. */
    check_judgement(share("procedure f", 0.005, 14000), share("procedure f", 0.133, 15), CHECK_INCONCLUSIVE, NULL);
    check_judgement(share("procedure f", 0.005, 14000), share("procedure f", 0.133, 1500), CHECK_FAIL, NULL);
    /* Less than all that the baseline has, and yet new: nothing below half a percent is kept. */
    check_judgement(share("procedure f", 0.9, 20000), share("procedure g", 0.5, 20000), CHECK_INCONCLUSIVE, NULL);
}

TEST(exact_values)
{
    check_judgement(exact("procedure f", 1e6), exact("procedure f", 1.004e6), CHECK_PASS,
                    "seen always: a rise of more than 0.5%");
    check_judgement(exact("procedure f", 1e6), exact("procedure f", 1.006e6), CHECK_FAIL,
                    "rose: alloc_bytes of procedure f: 977 KiB -> 982 KiB, +0.6%");
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
    AUTO(arena_deinit) struct arena arena = {0};
    struct baseline_query a = {.text = "q"}, b = {.text = "q"};
    struct check_lines lines = {0};
    AUTO_STR struct str all = {0};

    vec_push(&a.values, runs("procedure f", 0.5, 0.01, 5));
    vec_push(&a.values, runs("procedure g", 0.5 - third, 0.01, 5));
    if (third > 0)
        vec_push(&a.values, runs("procedure h", third, 0.01, 5));
    vec_push(&b.values, runs("procedure f", (1 - now_third) * 0.5 / (1 - third), 0.01, 5));
    vec_push(&b.values, runs("procedure g", (1 - now_third) * (0.5 - third) / (1 - third), 0.01, 5));
    vec_push(&b.values, runs(name, now_third, 0.01, 5));
    enum check_outcome outcome = baseline_judge(&a, &b, 0.01 / 20, &arena, &lines, NULL);

    vec_foreach(line, &lines)
        str_addf(&all, "%s\n", *line);
    *text = xstrdup(str_cstr(&all));
    vec_deinit(&lines);
    vec_deinit(&a.values);
    vec_deinit(&b.values);
    return outcome;
}

/* A procedure that takes a third of the time and was not there is a rise, though each that was takes more. */
TEST(what_is_new_is_judged_however_large_the_others_are)
{
    AUTO_FREE char *fresh = NULL, *renamed = NULL, *worse = NULL, *stripped = NULL;

    CHECK_EQ_INT(judge_three(0, "procedure n", 0.32, &fresh), CHECK_FAIL);
    CHECK(strstr(fresh, "new: cputime of procedure n: 0.5% -> 32.0%"));
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
    check_judgement(before, before, CHECK_PASS, "ruled out in 19 of 20 cases: a rise of 1.2 points");
    check_judgement(before, few, CHECK_FAIL,
                    "rose: cputime of procedure f: 30.0% -> 40.0% (1.2 s -> 1.6 s), +10.0 points [+8.5, +11.5]");
    check_judgement(runs("procedure f", 0.3, 0.1, 3), runs("procedure f", 0.4, 0, 1), CHECK_INCONCLUSIVE, NULL);
}

/* Of a program whose runs differ by much more than sampling explains another hour may differ by more than its runs. */
TEST(hours_differ_as_runs_do)
{
    check_judgement(runs("procedure f", 0.3, 0.003, 5), runs("procedure f", 0.36, 0.003, 5), CHECK_FAIL, NULL);
    check_judgement(runs("procedure f", 0.3, 0.016, 5), runs("procedure f", 0.38, 0.016, 5), CHECK_INCONCLUSIVE, NULL);
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
    struct baseline_whole calm = whole(4, 0.01, 5), usual = whole(4, 0.05, 5), wild = whole(4, 0.3, 5),
                          one = whole(4, 0, 1);

    CHECK_NEAR(baseline_alike(&calm, &calm), BASELINE_ALIKE_LEAST, 1e-9);
    CHECK_NEAR(baseline_alike(&usual, &usual), 1.8595 * 0.05 * sqrt(2.4), 1e-4);
    CHECK_NEAR(baseline_alike(&wild, &wild), BASELINE_ALIKE_MOST, 1e-9);
    CHECK_NEAR(baseline_alike(&usual, &one), 2.1318 * 0.05 * sqrt(3.2), 1e-4);
    CHECK_NEAR(baseline_alike(&one, &one), BASELINE_ALIKE_MOST, 1e-9);

    struct baseline_value before = runs("procedure main", 1, 0.03, 5), now = before;

    now.value *= 1.09;
    check_seconds(before, now, CHECK_PASS, "all cputime: 4 s -> 4.36 s in a run, +9.0%. What became slower in all its");
    now.value = 4.84;
    check_seconds(before, now, CHECK_INCONCLUSIVE, "cannot tell: all cputime: 4 s -> 4.84 s in a run, +21.0%");
}

/* ---- over many runs ---- */

enum { ROWS = 60 };

static double uniform(uint64_t *state)
{
    return (double)(hash_u64(++*state) >> 11) * 0x1p-53;
}

/*
 * n samples of a program whose procedures have these shares, asked for in two views: each alone, and with what follows
 * it, as a chain of callers has it; main twice.
 */
static void draw(const double *shares, int n, uint64_t *state, struct baseline *b)
{
    struct baseline_query *alone = baseline_add(b, "procedures"), *chain;
    int counts[ROWS] = {0};

    for (int i = 0; i < n; i++) {
        double u = uniform(state);
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

/* At most one unchanged run in a hundred fails, and three standard deviations: few large procedures, many, and many
 * small ones. */
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

/* ---- files ---- */

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

TEST(what_is_written_reads_back)
{
    AUTO_FREE char *dir = test_tmpdir(), *path = file_join(dir, "a.baseline"), *again = file_join(dir, "b.baseline");
    AUTO(baseline_deinit) struct baseline b = {0}, read = {0};
    struct baseline_query *q = baseline_add(&b, "procedures where cputime > 5%");
    AUTO_STR struct str one = {0}, two = {0};

    vec_push(&q->values, share("procedure std::vector<int>::f(int) > loop 1 of g", 0.4123, 2310));
    vec_push(&q->values, share("procedure exact: 5%", 0.1, INFINITY));
    vec_push(&q->values, share("procedure unknown", 0.2, NAN));
    vec_push(&q->values, runs("procedure m", 0.3125, 0.02, 4));
    vec_push(&q->values, exact("procedure e", 1048576));
    q->values.data[0].metric = "perf::cycles";
    q->values.data[1].metric = "PAPI-TOT CYC";
    CHECK_OK(baseline_write(path, &b));
    CHECK_OK(baseline_read(path, false, &read));
    CHECK_EQ_INT(baseline_size(&read), 5);
    CHECK(baseline_find(&read, "procedures where cputime > 5%") && !baseline_find(&read, "procedures"));
    CHECK_OK(baseline_write(again, &read));
    CHECK_OK(file_read(path, &one, 1 << 20));
    CHECK_OK(file_read(again, &two, 1 << 20));
    CHECK_EQ_STR(str_cstr(&two), str_cstr(&one));
    CHECK(strstr(str_cstr(&one),
                 "\ncputime 31.25% +-10% of 100000 in 4 runs, sd 2%, mean 1.25s, spread 0.08s: procedure m\n"));
    CHECK(strstr(str_cstr(&one), "\nalloc_bytes 1048576B +-0.5% of exact: procedure e\n"));
    CHECK_OK(file_remove_tree(dir));
}

TEST(wrong_files_name_the_line)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "has no values of any query: it was cut off"},
        {"hq baseline 2\n\n# comment\nquery: tree\ncputime 5% +-2% of 10: procedure f\n", NULL},
        {"hq baseline 2\nnames: source\nset inline on\nlater: a word of a later version\nquery: tree\nset inline off\n"
         "cputime 5% +-2% of 10, mean 1.2s, later 0.1s: procedure f\ncputime 5% +-2% of 90 in 3 runs, sd 1%, x 2: "
         "procedure g\n",
         NULL},
        {"hq baseline 2\nquery: tree\ncputime 5% +-2% of 10, mean: procedure f\n", ":3: the line"},
        {"hq baseline 2\nquery: tree\nnames: source\n", ":3: the line"},
        {"something else\n", "is no baseline: it does not begin with `hq baseline 2`"},
        {"hq baseline 2\ncputime 5% +-2% of 10: f\n", ":2: the line comes before any query"},
        {"hq baseline 2\nquery: a\nquery: a\n", ":3: the line is there twice"},
        {"hq baseline 2\nquery: a\n<<<<<<< ours\n", ":3: this file holds an unresolved merge conflict"},
        {"hq baseline 2\nquery: a\ncputime 5 +-2% of 10: f\n", "has a value where a share must be"},
        {"hq baseline 2\nquery: a\ncputime 5% +-2% of 9 in 1 runs, sd 1%: f\n", "has too few runs"},
        {"hq baseline 2\nquery: a\ncputime 5% +-2%\n", "is not as hq check --update writes it"},
        {"hq baseline 2\nquery: a\ncputime\n", "is not as"},
        {"hq baseline 2\nquery: a\n\"open\n", "is not as"},
    };
    AUTO_FREE char *dir = test_tmpdir(), *path = file_join(dir, "a.baseline");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(baseline_deinit) struct baseline b = {0};
        FILE *f = fopen(path, "w");

        fputs(cases[i].text, f);
        fclose(f);
        if (cases[i].message)
            CHECK_ERROR(baseline_read(path, false, &b), HQ_DATA, cases[i].message);
        else
            CHECK_OK(baseline_read(path, false, &b));
    }
    CHECK_OK(file_remove_tree(dir));
}

TEST(other_versions)
{
    AUTO_FREE char *dir = test_tmpdir(), *path = file_join(dir, "a.baseline");

    for (int version = 1; version <= 3; version += 2) {
        AUTO(baseline_deinit) struct baseline b = {0}, again = {0};
        FILE *f = fopen(path, "w");

        fprintf(f, "hq baseline %d\nquery: a\ncputime 5%% +-7%% of 10: f\n", version);
        fclose(f);
        CHECK_ERROR(baseline_read(path, false, &b), HQ_USAGE,
                    version == 1 ? "is a baseline of hq 0.1" : "is a baseline of a later version of hq");
        CHECK_OK(baseline_read(path, true, &again));
        CHECK(again.by_source && again.queries.len == 1 && again.queries.data[0].values.len == 1);
    }
    CHECK_OK(file_remove_tree(dir));
}

TEST(names_of_the_source_alone)
{
    static const char *const paths[][2] = {
        {"procedure f", "procedure f"},
        {"procedure f(int) [_Z1fi]", "procedure f(int)"},
        {"procedure main > loop 1 of g [g_] > procedure f [_Z1fi]", "procedure main > loop 1 of g > procedure f"},
        {"procedure <A as B>::f [clone .cold]", "procedure <A as B>::f [clone .cold]"},
        {"procedure operator new[](unsigned long) [_Znam] > procedure a[b] x",
         "procedure operator new[](unsigned long) > procedure a[b] x"},
        {"procedure f [x] y", "procedure f [x] y"},
        {"procedure f []", "procedure f []"},
        {"procedure f [x", "procedure f [x"},
    };
    AUTO(baseline_deinit) struct baseline b = {0};

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        CHECK_EQ_STR(baseline_fold_path(&b.arena, paths[i][0]), paths[i][1]);
    CHECK_EQ_STR(baseline_shorten(&b.arena, "procedure f(int) [_Z1fi]"), "procedure f(int)");
    CHECK_EQ_STR(baseline_shorten(&b.arena, "loop 1 of f(int) [_Z1fi]"), "loop 1 of f(int)");
    CHECK_EQ_STR(baseline_shorten(&b.arena, "procedure f [_Z1fi]"), "procedure f [_Z1fi]");
    CHECK_EQ_STR(baseline_shorten(&b.arena, "procedure ff(int) [_Z1fi]"), "procedure ff(int) [_Z1fi]");
    CHECK_EQ_STR(baseline_shorten(&b.arena, "procedure main"), "procedure main");
    CHECK_EQ_STR(baseline_shorten(&b.arena, "procedure conj_grad [conj_grad_]"), "procedure conj_grad [conj_grad_]");
    struct baseline_query *q = baseline_add(&b, "q");

    vec_push(&q->values, share("procedure f [a]", 0.25, 100));
    vec_push(&q->values, share("procedure g", 0.25, 100));
    vec_push(&q->values, share("procedure f [b]", 0.5, 100));
    baseline_fold(&b);
    CHECK(b.by_source && q->values.len == 2);
    CHECK_NEAR(q->values.data[0].share, 0.75, 1e-12);
    CHECK_EQ_STR(q->values.data[0].path, "procedure f");
}

/* An update wants the tolerances of what it replaces. */
TEST(an_update_reads_what_can_be_read)
{
    AUTO_FREE char *dir = test_tmpdir(), *path = file_join(dir, "a.baseline");
    AUTO(baseline_deinit) struct baseline b = {0};
    FILE *f = fopen(path, "w");

    fputs("hq baseline 2\nquery: a\n<<<<<<< ours\ncputime 5% +-7% of 10: f\n=======\ncputime 6% +-2% of 10: f\n>>>>>>> "
          "theirs\ncputime 9% +-3% of 10: g\n",
          f);
    fclose(f);
    CHECK_OK(baseline_read(path, true, &b));
    AUTO(row_names_deinit) struct row_names names = {0};
    const struct baseline_query *q = baseline_find(&b, "a");

    baseline_value_names(q, &names);
    CHECK_NEAR(baseline_value_find(q, &names, "cputime", "f")->tolerance, 0.07, 1e-9);
    CHECK_NEAR(baseline_value_find(q, &names, "cputime", "g")->tolerance, 0.03, 1e-9);
    CHECK(!baseline_value_find(q, &names, "cputime", "h"));
    CHECK_OK(file_remove_tree(dir));
}

/* Any text is read or refused, within its bounds (the sanitizers see to that). */
TEST(damaged_files)
{
    static const char whole[] = "hq baseline 2\nnames: linkage\nset inline on\n\nquery: tree\nset inline off\n"
                                "cputime 5.25% +-2% of 1000, mean 2s: procedure f > loop 1 of f\n"
                                "\"a b\" 5% +-2% of exact: g\ncputime.x 15% +-5% of 30 in 3 runs, sd 1%: procedure g\n";
    AUTO_FREE char *dir = test_tmpdir(), *path = file_join(dir, "a.baseline");
    uint64_t state = 5;
    int refused = 0;

    for (int i = 0; i < 2000; i++) {
        AUTO(baseline_deinit) struct baseline b = {0};
        char text[sizeof whole];
        size_t n = sizeof whole - 1;
        FILE *f = fopen(path, "w");

        memcpy(text, whole, sizeof whole);
        for (int k = 0; k < 3; k++) {
            size_t at = 14 + hash_u64(++state) % (n - 14);

            text[at] = " \n\"%:+-.0x\xff"[hash_u64(++state) % 11];
        }
        fwrite(text, 1, 14 + hash_u64(++state) % (n - 13), f);
        fclose(f);
        struct hq_error *err = baseline_read(path, false, &b);

        refused += err != NULL;
        hq_error_free(err);
    }
    CHECK(refused > 200);
    CHECK_OK(file_remove_tree(dir));
}

TEST_MAIN
