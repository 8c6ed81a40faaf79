/* SPDX-License-Identifier: BSD-3-Clause */
/* What rows of baselines and races are called: as `set names` has it, and never two alike. */
#include "repl/baseline/row_paths.h"
#include "tests/unit/test.h"
#include <string.h>

#define LONG "std::map<std::string, int>::emplace_hint_unique<std::string, int>(std::string&&, int&&)"

static const char *const paths[] = {
    ("procedure main > procedure " LONG),
    "procedure main > procedure run<main::{lambda(int)#1}>(main::{lambda(int)#1}, std::vector<double> const&)",
    "procedure main > procedure run<main::{lambda(int)#2}>(main::{lambda(int)#2}, std::vector<double> const&)",
    "procedure main > procedure operator() [_ZZ4mainENKUliE_clEi]",
    "procedure main > procedure operator() [_ZZ4mainENKUliE0_clEi]",
    "procedure a > loop 1 of a > procedure b > procedure c > procedure d > procedure e > procedure f > procedure g",
};
enum { PATHS = sizeof paths / sizeof *paths };

static const char *text(struct row_paths *p, struct arena *arena, size_t i)
{
    return row_paths_text(p, arena, paths[i], true);
}

static void add_all(struct row_paths *p)
{
    for (size_t i = 0; i < PATHS; i++)
        row_paths_add(p, paths[i]);
}

TEST(names_as_set_and_never_alike)
{
    AUTO(arena_deinit) struct arena arena = {0};

    for (enum output_names setting = NAMES_FIT; setting <= NAMES_FULL; setting++) {
        AUTO(row_paths_deinit) struct row_paths p = {.setting = setting};

        add_all(&p);
        if (setting == NAMES_FULL)
            CHECK_EQ_STR(text(&p, &arena, 0), "main > " LONG);
        else
            CHECK_EQ_STR(text(&p, &arena, 0), "main > std::map<...>::emplace_hint_unique<...>(...)");
        CHECK_EQ_STR(text(&p, &arena, 5),
                     setting == NAMES_FULL ? "a > b > c > d > e > f > g" : "a > b > c > d > e > f > g");
        for (size_t i = 0; i < PATHS; i++)
            for (size_t k = 0; k < i; k++)
                CHECK(strcmp(text(&p, &arena, i), text(&p, &arena, k)));
        CHECK(!strchr(text(&p, &arena, 0), '['));
        CHECK(strstr(text(&p, &arena, 3), " [_ZZ4mainENKUliE_clEi]") != NULL);
    }
}

TEST(a_long_path_loses_its_middle)
{
    AUTO(arena_deinit) struct arena arena = {0};
    const char *path =
        "procedure a > procedure b > procedure c > procedure d > procedure e > procedure f > procedure g > "
        "procedure h";
    AUTO(row_paths_deinit) struct row_paths some = {0}, all = {.setting = NAMES_FULL};

    row_paths_add(&some, path);
    row_paths_add(&all, path);
    CHECK_EQ_STR(row_paths_text(&some, &arena, path, true), "a > b > ... > e > f > g > h");
    CHECK_EQ_STR(row_paths_text(&all, &arena, path, false), path);
}

TEST_MAIN
