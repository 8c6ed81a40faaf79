/* SPDX-License-Identifier: BSD-3-Clause */
/* Regular expressions over long names: an answer, or a mistake that says why there is none. */
#include "common/mem.h"
#include "query/pattern/pattern.h"
#include "tests/unit/test.h"

static struct regex *compiled(struct pattern *p, const char *text)
{
    struct regex *r = NULL;

    *p = (struct pattern){.kind = PATTERN_REGEX, .text = text};
    CHECK_OK(regex_compile(p, &r));
    return r;
}

/* A name as templates make them: n characters, then an end. */
static char *long_name(size_t n, const char *end)
{
    char *name = xmalloc(n + strlen(end) + 1);

    for (size_t i = 0; i < n; i++)
        name[i] = "Vec<int,"[i % 8];
    memcpy(name, "my", 2);
    strcpy(name + n, end);
    return name;
}

TEST(names_of_ten_thousand_characters)
{
    static const char *const texts[] = {"^my.*run\\(\\)$", "^my(.)*run\\(\\)$", "^(\\w+|\\W)*run\\(\\)$", "V(.|,)*run",
                                        "(?:(?:[^<]*)<)*int.*run"};
    AUTO_FREE char *hit = long_name(10000, "::run()"), *miss = long_name(10000, "::walk()");

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pattern p;
        struct regex *r = compiled(&p, texts[i]);

        CHECK(regex_matches(r, hit));
        if (i < 2)
            CHECK(!regex_matches(r, miss));
        CHECK(!regex_failure(r));
        regex_destroy(r);
    }
}

TEST(too_many_ways_are_a_mistake)
{
    struct pattern p;
    struct regex *r = compiled(&p, "^(?:(?:a+)+$|a+!)");
    struct hq_error *err;

    CHECK(regex_matches(r, "aaa!"));
    CHECK(!regex_failure(r));
    CHECK(!regex_matches(r, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"));
    err = regex_failure(r);
    CHECK_OR_RETURN(err);
    CHECK(err->status == HQ_USAGE);
    CHECK(strstr(err->message, "/^(?:(?:a+)+$|a+!)/ cannot be decided for the name `aaaa"));
    CHECK(strstr(err->message, "of 73 characters: match limit exceeded"));
    hq_error_free(err);
    /* and it stays one, whatever else would match */
    CHECK(!regex_matches(r, "aaa!"));
    regex_destroy(r);
}

TEST_MAIN
