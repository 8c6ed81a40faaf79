/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/suggest.h"
#include "tests/unit/test.h"

static const char *const words[] = {"tree",   "callers",  "callees",     "flat", "lines",
                                    "source", "MPI_Wait", "MPI_Waitall", "trace"};
enum { WORDS = sizeof words / sizeof *words };

TEST(distances)
{
    char longer[400];

    CHECK_EQ_INT(suggest_distance("", "", 3), 0);
    CHECK_EQ_INT(suggest_distance("abc", "abc", 0), 0);
    CHECK_EQ_INT(suggest_distance("ABC", "abc", 0), 0);
    CHECK_EQ_INT(suggest_distance("kitten", "sitting", 9), 3);
    CHECK_EQ_INT(suggest_distance("ab", "ba", 9), 1);
    CHECK_EQ_INT(suggest_distance("xab", "xba", 1), 1);
    CHECK_EQ_INT(suggest_distance("ca", "abc", 9), 3); /* optimal string alignment, not unrestricted */
    CHECK_EQ_INT(suggest_distance("", "abc", 9), 3);
    CHECK_EQ_INT(suggest_distance("abcdef", "uvwxyz", 2), 3);
    memset(longer, 'a', sizeof longer);
    longer[399] = '\0';
    CHECK_EQ_INT(suggest_distance(longer, longer, 2), 3);
    longer[255] = '\0';
    CHECK_EQ_INT(suggest_distance(longer, longer, 2), 0);
}

TEST(nearest)
{
    CHECK_EQ_STR(suggest_nearest("tere", words, WORDS), "tree");
    CHECK_EQ_STR(suggest_nearest("calers", words, WORDS), "callers");
    CHECK_EQ_STR(suggest_nearest("TREE", words, WORDS), "tree");
    CHECK_EQ_STR(suggest_nearest("mpi_wiat", words, WORDS), "MPI_Wait");
    CHECK_EQ_STR(suggest_nearest("sou", words, WORDS), "source");
    CHECK_EQ_STR(suggest_nearest("zzzzzz", words, WORDS), NULL);
    CHECK_EQ_STR(suggest_nearest("", words, WORDS), NULL);
    CHECK_EQ_STR(suggest_nearest("x", words, WORDS), NULL);
    CHECK_EQ_STR(suggest_nearest("x", NULL, 0), NULL);
}

TEST(top_in_order)
{
    const char *best[3] = {0};

    CHECK_EQ_INT(suggest_top("callees", words, WORDS, best, 3), 2);
    CHECK_EQ_STR(best[0], "callees");
    CHECK_EQ_STR(best[1], "callers");
    CHECK_EQ_INT(suggest_top("mpi_wai", words, WORDS, best, 3), 2);
    CHECK_EQ_STR(best[0], "MPI_Wait");
    CHECK_EQ_INT(suggest_top("callers", words, WORDS, best, 1), 1);
    CHECK_EQ_STR(best[0], "callers");
    CHECK_EQ_INT(suggest_top("callers", words, WORDS, best, 0), 0);
}

TEST(text)
{
    AUTO_STR struct str out = {0};
    struct suggest s;

    suggest_init(&s, "calle", 3);
    suggest_text(&s, &out);
    CHECK_EQ_STR(str_cstr(&out), "");
    for (size_t i = 0; i < WORDS; i++) {
        suggest_add(&s, words[i]);
        suggest_add(&s, words[i]); /* the same word twice is one suggestion */
    }
    suggest_text(&s, &out);
    CHECK_EQ_STR(str_cstr(&out), "; did you mean callers or callees?");
}

TEST(lists)
{
    CHECK(suggest_lists(" top flat ", "flat"));
    CHECK(suggest_lists(" top flat ", "TOP"));
    CHECK(!suggest_lists(" top flat ", "fla"));
    CHECK(!suggest_lists(" top flat ", "at"));
}

TEST_MAIN
