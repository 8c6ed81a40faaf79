/* SPDX-License-Identifier: BSD-3-Clause */
/* Symbols as text: what the library says without limits is the second source; bombs end, and are told. */
#include "structure/structure.h"
#include "common/mem.h"
#include "common/str.h"
#include "tests/unit/test.h"
#include <libiberty/demangle.h>
#include <sys/resource.h>
#include <time.h>

static void same_as_library(const char *symbol)
{
    bool gave_up;
    AUTO_FREE char *ours = structure_demangle_within(symbol, &gave_up);
    AUTO_FREE char *theirs = cplus_demangle(symbol, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO | DMGL_NO_RECURSE_LIMIT);

    CHECK(!gave_up);
    CHECK_EQ_STR(ours ? ours : "(none)", theirs ? theirs : "(none)");
}

TEST(names_of_people)
{
    static const char *const symbols[] = {
        "_Z1fv",
        "_ZNSt6vectorIiSaIiEE9push_backEOi",
        "_ZNSt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES5_St4lessIS5_ESaISt4pairIKS5_S5_EEE4findERS9_",
        "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
        "_RNvNtCs1234_7mycrate3foo3bar",
        "_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE",
        "_Z5inneri._omp_fn.0",
        "_ZZ4mainENKUlvE_clEv",
        "_Znotasymbol",
        "__",
    };

    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        same_as_library(symbols[i]);
}

TEST(long_names_of_templates)
{
    AUTO_STR struct str s = {0};
    AUTO_FREE char *text = NULL;

    str_add(&s, "_Z1fI");
    for (int i = 0; i < 800; i++)
        str_add(&s, "11abcdefghijk");
    str_add(&s, "Evv");
    same_as_library(str_cstr(&s));
    text = structure_demangle(str_cstr(&s));
    CHECK(text && strlen(text) > 10000);
}

static void is_given_up(const char *symbol)
{
    bool gave_up;
    AUTO_FREE char *text = structure_demangle_within(symbol, &gave_up);

    CHECK(gave_up);
    CHECK(!text);
}

/* Pairs of pairs: each level twice as long. */
TEST(substitutions_of_substitutions)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    AUTO_STR struct str s = {0};

    str_add(&s, "_Z1f4pairIiiES_IS0_S0_E");
    for (int i = 1; i < 34; i++)
        str_addf(&s, "S_IS%c_S%c_E", digits[i], digits[i]);
    is_given_up(str_cstr(&s));
}

/* The same behind an expansion, whose parameters are looked for in all of it before anything is printed. */
static void add_search(struct str *s)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    str_add(s, "_Z1fIiEvDp4pairI");
    for (int i = 1; i < 34; i++)
        str_add(s, "S0_I");
    str_add(s, "iiE");
    for (int i = 1; i < 34; i++)
        str_addf(s, "S%c_E", digits[i]);
}

TEST(searches_without_output)
{
    AUTO_STR struct str s = {0};

    add_search(&s);
    is_given_up(str_cstr(&s));
}

/* Without a timer it is not begun. */
TEST(no_timer)
{
    AUTO_STR struct str s = {0};
    struct rlimit before, none;

    add_search(&s);
    CHECK(!getrlimit(RLIMIT_SIGPENDING, &before));
    none = (struct rlimit){0, before.rlim_max};
    CHECK(!setrlimit(RLIMIT_SIGPENDING, &none));
    is_given_up(str_cstr(&s));
    CHECK(!setrlimit(RLIMIT_SIGPENDING, &before));
}

/* References to what was before, of Rust. */
TEST(references_of_rust)
{
    AUTO_STR struct str s = {0};

    str_add(&s, "_RINvC1a1fTllE");
    for (int i = 0, last = 11; i < 40; i++) {
        int here = (int)s.len - 2;

        str_addf(&s, "TB%c_B%c_E", 'a' + last % 26, 'a' + last % 26);
        last = here;
    }
    str_add(&s, "E");
    bool gave_up;
    free(structure_demangle_within(str_cstr(&s), &gave_up));
    CHECK(true);
}

TEST(symbols_without_end)
{
    AUTO_STR struct str s = {0};

    str_add(&s, "_Z1f");
    str_repeat(&s, 'P', 60000);
    str_add(&s, "i");
    bool gave_up;
    free(structure_demangle_within(str_cstr(&s), &gave_up)); /* without more stack than usual this ends the process */
    str_clear(&s);
    str_add(&s, "_Z1f");
    str_repeat(&s, 'F', 60000);
    free(structure_demangle_within(str_cstr(&s), &gave_up));
    str_clear(&s);
    str_add(&s, "_Z1f");
    str_repeat(&s, 'P', 70000);
    is_given_up(str_cstr(&s));
}

/* Many of them do not take many times as long: after some, suspicious ones are not tried. */
TEST(many_bombs)
{
    AUTO_STR struct str s = {0};
    struct timespec from, to;

    str_add(&s, "_Z1f4pairIiiES_IS0_S0_E");
    for (int i = 1; i < 30; i++)
        str_addf(&s, "S_IS%c_S%c_E", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i],
                 "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    for (int i = 0; i < 2000; i++)
        is_given_up(str_cstr(&s));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    CHECK(to.tv_sec - from.tv_sec < 120); /* 400 s if each took its time */
}

TEST_MAIN
