/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests:
 *
 *     #include "tests/unit/test.h"
 *     TEST(adds) { CHECK_EQ_INT(1 + 1, 2); }
 *     TEST_MAIN
 *
 * Tests run in the order of the file. A failed check prints where and what, and the test goes on; CHECK_OR_RETURN ends
 * it. The program prints `N passed, N failed` and exits with 1 if a test failed. Arguments: names of the tests to run.
 */
#ifndef HQ_TESTS_UNIT_TEST_H
#define HQ_TESTS_UNIT_TEST_H

#include "common/err.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct test {
    const char *name;
    void (*run)(void);
    struct test *next;
};

static struct test *test_list, **test_tail = &test_list;
static int test_failures; /* failed checks of the running test */

static inline void test_register(struct test *t)
{
    *test_tail = t;
    test_tail = &t->next;
}

#define TEST(id) \
    static void test_run_##id(void); \
    static struct test test_row_##id = {#id, test_run_##id, NULL}; \
    static void __attribute__((constructor)) test_add_##id(void) \
    { \
        test_register(&test_row_##id); \
    } \
    static void test_run_##id(void)

#define TEST_FAIL(...) \
    do { \
        test_failures++; \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
        fprintf(stderr, __VA_ARGS__); \
        fputc('\n', stderr); \
    } while (0)

#define CHECK(cond) \
    do { \
        if (!(cond)) \
            TEST_FAIL("failed: %s", #cond); \
    } while (0)

#define CHECK_OR_RETURN(cond) \
    do { \
        if (!(cond)) { \
            TEST_FAIL("failed: %s", #cond); \
            return; \
        } \
    } while (0)

#define CHECK_EQ_INT(got, want) \
    do { \
        long long test_got_ = (long long)(got), test_want_ = (long long)(want); \
        if (test_got_ != test_want_) \
            TEST_FAIL("%s is %lld, not %lld", #got, test_got_, test_want_); \
    } while (0)

/* NULL is equal to NULL only. */
#define CHECK_EQ_STR(got, want) \
    do { \
        const char *test_got_ = (got), *test_want_ = (want); \
        if (test_got_ && test_want_ ? strcmp(test_got_, test_want_) : test_got_ != test_want_) \
            TEST_FAIL("%s is\n  \"%s\", not\n  \"%s\"", #got, test_got_ ? test_got_ : "(null)", \
                      test_want_ ? test_want_ : "(null)"); \
    } while (0)

/* Relative to the larger of 1 and |want|. */
#define CHECK_NEAR(got, want, tolerance) \
    do { \
        double test_got_ = (got), test_want_ = (want); \
        if (!(fabs(test_got_ - test_want_) <= (tolerance)*fmax(1, fabs(test_want_)))) \
            TEST_FAIL("%s is %.17g, not %.17g", #got, test_got_, test_want_); \
    } while (0)

/* An expression that gives a struct hq_error *, which is freed. */
#define CHECK_OK(expr) \
    do { \
        struct hq_error *test_err_ = (expr); \
        if (test_err_) \
            TEST_FAIL("%s: %s", #expr, test_err_->message); \
        hq_error_free(test_err_); \
    } while (0)

/* text: a part of the message */
#define CHECK_ERROR(expr, want_status, text) \
    do { \
        struct hq_error *test_err_ = (expr); \
        if (!test_err_) \
            TEST_FAIL("%s succeeds", #expr); \
        else if (test_err_->status != (want_status) || !strstr(test_err_->message, (text))) \
            TEST_FAIL("%s: status %d: %s", #expr, test_err_->status, test_err_->message); \
        hq_error_free(test_err_); \
    } while (0)

/* A new empty directory below HQ_TEST_TMP or TMPDIR or /tmp; never NULL. The caller removes it and frees the name. */
static inline char *test_tmpdir(void)
{
    const char *top = getenv("HQ_TEST_TMP");
    char *path;

    if (!top)
        top = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    if (asprintf(&path, "%s/hq-unit.XXXXXX", top) < 0 || !mkdtemp(path)) {
        perror("cannot make a temporary directory");
        exit(1);
    }
    return path;
}

static inline bool test_is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], name))
            return true;
    return argc < 2;
}

static inline int test_main(int argc, char **argv)
{
    int passed = 0, failed = 0;

    for (const struct test *t = test_list; t; t = t->next) {
        if (!test_is_wanted(t->name, argc, argv))
            continue;
        test_failures = 0;
        t->run();
        if (test_failures)
            fprintf(stderr, "FAILED: %s\n", t->name);
        test_failures ? failed++ : passed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}

#define TEST_MAIN \
    int main(int argc, char **argv) \
    { \
        return test_main(argc, argv); \
    }

#endif
