/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of baselines: what was written reads back, and what is wrong in one is named. */
#include "common/file.h"
#include "common/hash.h"
#include "tests/unit/baseline_values.h"
#include "tests/unit/test.h"
#include <math.h>

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
        {"hq baseline 2\nquery: a\ncputime 5% +-2% of 9: f\ncputime 6% +-2% of 9: f\n",
         ":4: the line is of a row that has another line, with other values"},
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

    for (int version = 1; version <= 4; version += 3) {
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

/* Before, shares were of all the time also where much of it is in the system. */
TEST(what_computes_has_another_number)
{
    AUTO_FREE char *dir = test_tmpdir(), *path = file_join(dir, "a.baseline");

    for (int version = 2; version <= 3; version++) {
        AUTO(baseline_deinit) struct baseline b = {0}, again = {0};
        FILE *f = fopen(path, "w");

        fprintf(f, "hq baseline %d\nsystem: 40%%\nquery: a\ncputime 5%% +-7%% of 10: f\n", version);
        fclose(f);
        if (version == 2)
            CHECK_ERROR(baseline_read(path, false, &b), HQ_USAGE, "did not tell what computes from what is in");
        else
            CHECK_OK(baseline_read(path, false, &b));
        CHECK_OK(baseline_read(path, true, &again));
        CHECK(again.queries.len == 1 && again.queries.data[0].computes == (version == 3));
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
