/* SPDX-License-Identifier: BSD-3-Clause */
/* The alternatives of regular expressions, each by itself. */
#include "common/str.h"
#include "query/pattern/alternatives.h"
#include "tests/unit/test.h"

/* "text=regex text=regex" */
static void check(const char *regex, const char *expected)
{
    struct arena arena = {0};
    struct alternatives all = {0};
    AUTO_STR struct str text = {0};

    alternatives_in_regex(regex, &arena, &all);
    vec_foreach(a, &all)
        str_addf(&text, "%s%s=%s", text.len ? " " : "", a->text, a->regex);
    CHECK_EQ_STR(str_cstr(&text), expected);
    vec_deinit(&all);
    arena_deinit(&arena);
}

TEST(each_by_itself)
{
    check("wait|lock", "wait=wait lock=lock");
    check("^a$|b", "^a$=^a$ b=b");
    check("^MPI_(Wait|Tset)", "Wait=^MPI_(?:Wait) Tset=^MPI_(?:Tset)");
    check("(?:a|b)?c", "a=(?:a)?c b=(?:b)?c");
    check("x(a|b)y(c|d)z|w", "x(a|b)y(c|d)z=x(a|b)y(c|d)z a=x(?:a)y(c|d)z b=x(?:b)y(c|d)z c=x(a|b)y(?:c)z "
                             "d=x(a|b)y(?:d)z w=w");
    check("a(b(c|d))|e", "a(b(c|d))=a(b(c|d)) e=e");
    check("a(b|(c|d)e)", "b=a(?:b) (c|d)e=a(?:(c|d)e)");
    check("(|a)", "=(?:) a=(?:a)");
}

TEST(marks_that_divide_nothing)
{
    check("solve", "");
    check("a\\|b", "");
    check("[|]", "");
    check("[]|]", "");
    check("[^]|]", "");
    check("[[:alpha:]|]", "");
    check("\\Qa|b\\E", "");
    check("\\Qa|(b\\E|c", "\\Qa|(b\\E=\\Qa|(b\\E c=c");
    check("a\\(b|c\\)", "a\\(b=a\\(b c\\)=c\\)");
    check("(?=a|b)c", "");
    check("(?!a|b)c|d", "(?!a|b)c=(?!a|b)c d=d");
}

TEST(what_depends_on_others)
{
    check("(a|b)*c", "");
    check("(a|b)+c", "");
    check("(a|b){2}c", "");
    check("(a|b)\\1", "");
    check("(?i)a|b", "");
    check("(?i:a)|b", "");
    check("(?<n>a)|\\k<n>", "");
    check("(?|(a)|(b))", "");
    check("a|(*FAIL)b", "");
    check("(a|b", "");
    check("a|b)", "");
    check("[a|b", "");
}

TEST(names)
{
    CHECK(alternative_is_name("std::sort"));
    CHECK(!alternative_is_name("^a"));
    CHECK(!alternative_is_name("a.b"));
    CHECK(!alternative_is_name(""));
}

TEST_MAIN
