/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the plain-text cases of tests/grammar. */
#include "tests/unit/grammar_cases.h"
#include "common/mem.h"
#include "tests/unit/test.h"

struct reader {
    const char *at;  /* the rest of the file */
    struct str copy; /* the file with the results of the present parser */
};

/* The text of consecutive lines that begin with a mark and a space. */
static void take(struct reader *r, char mark, struct str *out)
{
    while (*r->at == mark) {
        size_t n = strcspn(r->at, "\n");

        if (n > 2)
            str_addn(out, r->at + 2, n - 2);
        str_addc(out, '\n');
        r->at += n + (r->at[n] == '\n');
    }
}

static void put(struct reader *r, char mark, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");

        str_addf(&r->copy, "%c%s%.*s\n", mark, n ? " " : "", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static void run_case(const char *path, struct reader *r)
{
    AUTO_STR struct str input = {0}, want = {0}, got = {0};
    AUTO_FREE char *unstable = NULL;

    take(r, '|', &input);
    take(r, '=', &want);
    str_truncate(&input, input.len - 1);
    grammar_show(str_cstr(&input), &got, &unstable);
    if (strcmp(str_cstr(&got), str_cstr(&want)) && !getenv("HQ_UPDATE"))
        TEST_FAIL("%s:\n%s\ngives\n%snot\n%s", path, str_cstr(&input), str_cstr(&got), str_cstr(&want));
    if (unstable)
        TEST_FAIL("%s: the canonical text does not parse to itself: %s", path, unstable);
    put(r, '|', str_cstr(&input));
    put(r, '=', str_cstr(&got));
}

static void run_file(const char *path)
{
    AUTO_FREE char *text = grammar_read(path);
    struct reader r = {.at = text};
    int cases = 0;

    while (*r.at) {
        size_t n = strcspn(r.at, "\n");

        if (*r.at == '|') {
            run_case(path, &r);
            cases++;
            continue;
        }
        CHECK(*r.at != '=');
        str_addf(&r.copy, "%.*s\n", (int)n, r.at);
        r.at += n + (r.at[n] == '\n');
    }
    CHECK(cases > 10);
    if (getenv("HQ_UPDATE")) {
        FILE *f = fopen(path, "w");

        fputs(str_cstr(&r.copy), f);
        fclose(f);
    }
    str_deinit(&r.copy);
}

TEST(accepted_queries)
{
    run_file("tests/grammar/accepted.txt");
}
TEST(refused_queries)
{
    run_file("tests/grammar/refused.txt");
}
TEST(scripts)
{
    run_file("tests/grammar/scripts.txt");
}

TEST_MAIN
