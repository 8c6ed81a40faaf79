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
        .metric = "cputime.x", .path = path, .share = x, .samples = samples, .tolerance = 0.02};
}

static struct baseline_value mean(const char *path, double x, double sd, unsigned runs)
{
    return (struct baseline_value){.metric = "cputime",
                                   .path = path,
                                   .absolute = true,
                                   .value = x,
                                   .sd = sd,
                                   .runs = runs,
                                   .dim = DIM_SECONDS,
                                   .tolerance = 0.05};
}

static enum check_outcome judge(struct baseline_value before, struct baseline_value now, char **line)
{
    AUTO(arena_deinit) struct arena arena = {0};
    struct baseline_query a = {.text = "q"}, b = {.text = "q"};
    struct check_lines lines = {0};

    vec_push(&a.values, before);
    vec_push(&b.values, now);
    enum check_outcome outcome = baseline_judge(&a, &b, 0.01 / 20, &arena, &lines);

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
    CHECK_EQ_STR(line, text);
}

TEST(shares)
{
    check_judgement(share("procedure f", 0.3, 2000), share("procedure f", 0.3, 2000), CHECK_PASS, "");
    check_judgement(share("procedure f", 0.3, 2000), share("procedure f", 0.46, 2000), CHECK_FAIL,
                    "rose: cputime.x of procedure f: 30.0% -> 46.0%");
    check_judgement(share("procedure f", 0.3, 100000), share("procedure f", 0.319, 100000), CHECK_PASS, "");
    check_judgement(share("procedure f", 0.3, 400), share("procedure f", 0.36, 400), CHECK_PASS, "");
    check_judgement(share("procedure f", 0.3, 110), share("procedure f", 0.36, 110), CHECK_INCONCLUSIVE,
                    "rose: cputime.x of procedure f, perhaps by chance: 30.0% -> 36.0%; the baseline has too few "
                    "samples, write it again "
                    "from a longer run");
    check_judgement(
        share("procedure f", 0.3, 20000), share("procedure f", 0.36, 50), CHECK_INCONCLUSIVE,
        "rose: cputime.x of procedure f, perhaps by chance: 30.0% -> 36.0%; about 603 more samples would decide");
    check_judgement(share("procedure f", 0.4, 2000), share("procedure f", 0.2, 2000), CHECK_PASS,
                    "fell: cputime.x of procedure f: 40.0% -> 20.0%");
    check_judgement(share("procedure f", 0.3, INFINITY), share("procedure f", 0.33, INFINITY), CHECK_FAIL,
                    "rose: cputime.x of procedure f: 30.0% -> 33.0%");
    check_judgement(share("procedure f", 0.3, 2000), share("procedure g", 0.5, 2000), CHECK_FAIL,
                    "new: cputime.x of procedure g: 30.0% -> 50.0%");
    check_judgement(share("procedure f", 0.3, 2000), share("procedure f", 0.3, 40), CHECK_INCONCLUSIVE,
                    "only 40 samples: too few to compare; about 60 more would do");
}

TEST(rows_outside_of_the_filter_are_not_judged)
{
    struct baseline_value big = share("procedure f", 0.46, 2000);

    big.outside = true;
    check_judgement(share("procedure f", 0.3, 2000), big, CHECK_PASS, "");
}

TEST(gone_is_named_and_passes)
{
    check_judgement(share("procedure f", 0.3, 2000), share("procedure g", 0.3, 2000), CHECK_PASS,
                    "gone: cputime.x of procedure f, was 30.0%");
}

TEST(means_over_runs)
{
    check_judgement(mean("procedure f", 1, 0.01, 5), mean("procedure f", 1.01, 0.01, 5), CHECK_PASS, "");
    check_judgement(mean("procedure f", 1, 0.01, 5), mean("procedure f", 1.3, 0.01, 5), CHECK_FAIL,
                    "rose: cputime of procedure f: 1 s -> 1.3 s");
    check_judgement(mean("procedure f", 1, 0.3, 3), mean("procedure f", 1.3, 0, 1), CHECK_INCONCLUSIVE,
                    "rose: cputime of procedure f, perhaps by chance: 1 s -> 1.3 s; more runs would decide");
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

        failed |= baseline_judge(&a->queries.data[q], &b->queries.data[q], alpha, &arena, &lines) == CHECK_FAIL;
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

/* A procedure that became twice as slow: 30 % of the time is 46 % now. At 2000 samples that is ten standard errors. */
TEST(slower_programs_fail)
{
    double before[ROWS], after[ROWS];
    uint64_t state = 43;

    shares_of(before, 0.3, 0.3);
    shares_of(after, 0.6 / 1.3, 0.3);
    CHECK_EQ_INT(failures(before, after, 2000, 200, &state), 200);
}

/* 40 % of the time made a fifth slower, 44.4 %, in 2400 samples: a hundredth shared by all values alike (Bonferroni)
 * finds it in 50 of 200. */
TEST(a_small_rise_is_found)
{
    double before[ROWS], after[ROWS];
    uint64_t state = 44;

    shares_of(before, 0.4, 0.1);
    shares_of(after, 0.48 / 1.08, 0.1);
    int found = failures(before, after, 2400, 200, &state);

    if (found < 58)
        TEST_FAIL("%d of 200 found", found);
}

/* ---- files ---- */

TEST(what_is_written_reads_back)
{
    AUTO_FREE char *dir = test_tmpdir(), *path = file_join(dir, "a.baseline"), *again = file_join(dir, "b.baseline");
    AUTO(baseline_deinit) struct baseline b = {0}, read = {0};
    struct baseline_query *q = baseline_add(&b, "procedures where cputime > 5%");
    AUTO_STR struct str one = {0}, two = {0};

    vec_push(&q->values, share("procedure std::vector<int>::f(int) > loop 1 of g", 0.4123, 2310));
    vec_push(&q->values, share("procedure exact: 5%", 0.1, INFINITY));
    vec_push(&q->values, share("procedure unknown", 0.2, NAN));
    vec_push(&q->values, mean("procedure m", 1.25, 0.02, 4));
    q->values.data[0].metric = "perf::cycles";
    q->values.data[1].metric = "PAPI-TOT CYC";
    CHECK_OK(baseline_write(path, &b));
    CHECK_OK(baseline_read(path, false, &read));
    CHECK_EQ_INT(baseline_size(&read), 4);
    CHECK(baseline_find(&read, "procedures where cputime > 5%") && !baseline_find(&read, "procedures"));
    CHECK_OK(baseline_write(again, &read));
    CHECK_OK(file_read(path, &one, 1 << 20));
    CHECK_OK(file_read(again, &two, 1 << 20));
    CHECK_EQ_STR(str_cstr(&two), str_cstr(&one));
    CHECK(strstr(str_cstr(&one), "\ncputime 1.25s +-5% of 4 runs, sd 0.02s: procedure m\n"));
    CHECK_OK(file_remove_tree(dir));
}

TEST(wrong_files_name_the_line)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", NULL},
        {"hq baseline 1\n\n# comment\nquery: tree\ncputime 5% +-2% of 10: procedure f\n", NULL},
        {"something else\n", "is no baseline of this version"},
        {"hq baseline 1\ncputime 5% +-2% of 10: f\n", ":2: the line comes before any query"},
        {"hq baseline 1\nquery: a\nquery: a\n", ":3: the line is there twice"},
        {"hq baseline 1\nquery: a\n<<<<<<< ours\n", ":3: this file holds an unresolved merge conflict"},
        {"hq baseline 1\nquery: a\ncputime 5 +-2% of 10: f\n", "mixes a share and runs"},
        {"hq baseline 1\nquery: a\ncputime 5s +-2% of 1 runs, sd 1s: f\n", "has too few runs"},
        {"hq baseline 1\nquery: a\ncputime 5% +-2%\n", "is not as hq check --update writes it"},
        {"hq baseline 1\nquery: a\ncputime\n", "is not as"},
        {"hq baseline 1\nquery: a\n\"open\n", "is not as"},
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

/* An update wants the tolerances of what it replaces. */
TEST(an_update_reads_what_can_be_read)
{
    AUTO_FREE char *dir = test_tmpdir(), *path = file_join(dir, "a.baseline");
    AUTO(baseline_deinit) struct baseline b = {0};
    FILE *f = fopen(path, "w");

    fputs("hq baseline 1\nquery: a\n<<<<<<< ours\ncputime 5% +-7% of 10: f\n=======\ncputime 6% +-2% of 10: f\n>>>>>>> "
          "theirs\ncputime 9% +-3% of 10: g\n",
          f);
    fclose(f);
    CHECK_OK(baseline_read(path, true, &b));
    struct baseline_value like = {.metric = "cputime", .path = "f"}, other = {.metric = "cputime", .path = "g"};

    CHECK_NEAR(baseline_value_find(baseline_find(&b, "a"), &like)->tolerance, 0.07, 1e-9);
    CHECK_NEAR(baseline_value_find(baseline_find(&b, "a"), &other)->tolerance, 0.03, 1e-9);
    CHECK_OK(file_remove_tree(dir));
}

/* Any text is read or refused, within its bounds (the sanitizers see to that). */
TEST(damaged_files)
{
    static const char whole[] = "hq baseline 1\n\nquery: tree\ncputime 5.25% +-2% of 1000: procedure f > loop 1 of f\n"
                                "\"a b\" 5% +-2% of exact: g\ncputime.x 1.5s +-5% of 3 runs, sd 0.1s: procedure g\n";
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
