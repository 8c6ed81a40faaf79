/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that would look alike in the room that they have. */
#include "common/apart.h"
#include "common/mem.h"
#include "common/str.h"
#include "tests/unit/test.h"
#include <string.h>

enum { MOST = 8 };

static void show(size_t room, const char *const *names, const char *const *expected)
{
    struct shown_name shown[MOST] = {0};
    size_t n = 0;

    for (; names[n]; n++)
        shown[n] = (struct shown_name){.name = names[n], .room = room};
    names_show(shown, n, "...");
    for (size_t i = 0; i < n; i++) {
        if (strcmp(shown[i].shown, expected[i]))
            printf("# %s\n", shown[i].shown);
        CHECK(!strcmp(shown[i].shown, expected[i]));
        free(shown[i].shown);
    }
}

#define SHOW(room, names, ...) show(room, names, (const char *const[]){__VA_ARGS__, NULL})
#define NAMES(...) \
    (const char *const[]) \
    { \
        __VA_ARGS__, NULL \
    }

TEST(what_differs_stays)
{
    SHOW(48, NAMES("sort<A>(A*)", "sort<B>(B*)"), "sort<A>(A*)", "sort<B>(B*)");
    SHOW(8, NAMES("sort_what_there_is", "main"), "s...e_is", "main");
}

TEST(first_argument_that_differs)
{
    SHOW(30,
         NAMES("void run<int, main::{lambda(int)#1}>(int, main::{lambda(int)#1})",
               "void run<int, main::{lambda(int)#2}>(int, main::{lambda(int)#2})", "main"),
         "run {main::{lambda(int)#1}}", "run {main::{lambda(int)#2}}", "main");
    SHOW(40,
         NAMES("ns::Grid<double, 3>::smooth_the_residual(std::vector<double> const&)",
               "ns::Grid<float, 3>::smooth_the_residual(std::vector<double> const&)",
               "ns::Grid<double, 3>::smooth_the_residual(std::vector<double> const&)"),
         "ns::Grid::smooth_the_residual {double}", "ns::Grid::smooth_the_residual {float}",
         "ns::Grid::smooth_the_residual {double}");
}

TEST(types_are_cut_at_words)
{
    SHOW(40,
         NAMES("std::function<double (double)>::operator()(double) const",
               "std::function<float (float)>::operator()(float) const"),
         "std::function::operator() {double (...)}", "std::function::operator() {float (...)}");
}

/* One argument does not tell three names apart: then it is all that differs. */
TEST(all_that_differs)
{
    SHOW(44,
         NAMES("void apply_to_everything<ns::Matrix<double>, A, X>(ns::Matrix<double> const&)",
               "void apply_to_everything<ns::Matrix<double>, A, Y>(ns::Matrix<double> const&)",
               "void apply_to_everything<ns::Matrix<double>, B, X>(ns::Matrix<double> const&)"),
         "apply_to_everything<...>(...) {A, X}", "apply_to_everything<...>(...) {A, Y}",
         "apply_to_everything<...>(...) {B}");
}

/* Four names that differ in two places, a template argument and a parameter that only two have. */
TEST(next_argument_for_those_still_alike)
{
    SHOW(12,
         NAMES("void N::k<F<A> >(F<A>&, F<A>::E)", "void N::k<F<A> >(F<A>&, S, F<A>::E)",
               "void N::k<F<B> >(F<B>&, F<B>::E)", "void N::k<F<B> >(F<B>&, S, F<B>::E)"),
         "N::k {A, F::E}", "N::k {A, S}", "N::k {B, F::E}", "N::k {B, S}");
    SHOW(18,
         NAMES("void N::k<F<A> >(F<A>&, F<A>::E)", "void N::k<F<A> >(F<A>&, S, F<A>::E)",
               "void N::k<F<B> >(F<B>&, F<B>::E)", "void N::k<F<B> >(F<B>&, S, F<B>::E)"),
         "N::k {F<A>::E}", "N::k<...> {S; A}", "N::k {F<B>::E}", "N::k<...> {S; B}");
    SHOW(
        48,
        NAMES("void Kripke::Kernel::kConst<Kripke::Field<double, Kripke::Moment, Kripke::Zone> >(Kripke::Field<double, "
              "Kripke::Moment, Kripke::Zone>&, Kripke::Field<double, Kripke::Moment, Kripke::Zone>::ElementType)",
              "void Kripke::Kernel::kConst<Kripke::Field<double, Kripke::Moment, Kripke::Zone> >(Kripke::Field<double, "
              "Kripke::Moment, Kripke::Zone>&, Kripke::SdomId, Kripke::Field<double, Kripke::Moment, "
              "Kripke::Zone>::ElementType)",
              "void Kripke::Kernel::kConst<Kripke::Field<double, Kripke::Group> >(Kripke::Field<double, "
              "Kripke::Group>&, Kripke::Field<double, Kripke::Group>::ElementType)",
              "void Kripke::Kernel::kConst<Kripke::Field<double, Kripke::Group> >(Kripke::Field<double, "
              "Kripke::Group>&, Kripke::SdomId, Kripke::Field<double, Kripke::Group>::ElementType)"),
        "Kripke::Kernel::kConst {Moment, ElementType}", "Kripke::Kernel::kConst<...> {Moment, SdomId}",
        "Kripke::Kernel::kConst<...> {Group, ElementType}", "Kripke::Kernel::kConst<...>(...) {Group, SdomId}");
}

TEST(arguments_that_only_some_have)
{
    SHOW(24,
         NAMES("void pack_it_all<int>(int)", "void pack_it_all<int, int>(int, int)",
               "void pack_it_all<int, int, char>(int, int, char)"),
         "pack_it_all<int>(...)", "pack_it_all<...> {-}", "pack_it_all<...> {char}");
    SHOW(20,
         NAMES("ns::Grid<double>::at(unsigned long, unsigned long)",
               "ns::Grid<double>::at(unsigned long, unsigned long) const"),
         "ns::Grid::at {-}", "ns::Grid::at {const}");
}

/* Words of a hint are whole, and its brackets are those of the name. */
TEST(hints_are_not_cut_in_words)
{
    SHOW(48,
         NAMES("std::panic::catch_unwind::<&dyn core::ops::function::Fn<(), Output = i32> + core::marker::Sync + "
               "core::panic::unwind_safe::RefUnwindSafe, i32>",
               "std::panic::catch_unwind::<std::rt::lang_start_internal::{closure#0}, isize>"),
         "std::panic::catch_unwind::<...> {&dyn...}", "catch_unwind {lang_start_internal::{closure#0}}");
}

/* What says little alone says enough beside what tells it from others. */
TEST(outermost_and_last_component)
{
    SHOW(48,
         NAMES("std::_Function_handler<double (double), main::{lambda(double)#1}>::_M_invoke(std::_Any_data const&)",
               "std::_Function_handler<double (double), main::{lambda(double)#2}>::_M_invoke(std::_Any_data const&)"),
         "std::...::_M_invoke {main::{lambda#1}}", "std::...::_M_invoke {main::{lambda#2}}");
}

/* Two groups that lose different scopes to their hints do not meet. */
TEST(groups_stay_apart)
{
    static const char *const sets[][4] = {
        {"void alphabetical::beta::smooth_it<Alpha>(Alpha)", "void alphabetical::beta::smooth_it<Gamma>(Gamma)",
         "void alphabetical::zeta::smooth_it<Alpha>(Alpha)", "void alphabetical::zeta::smooth_it<Gamma>(Gamma)"},
        {"void N::k<F<A> >(F<A>&, F<A>::E)", "void N::k<F<A> >(F<A>&, S, F<A>::E)", "void N::k<F<B> >(F<B>&, F<B>::E)",
         "void N::k<F<B> >(F<B>&, S, F<B>::E)"}};

    for (size_t room = 0; room < 120; room++) {
        struct shown_name shown[4] = {0};

        for (size_t i = 0; i < 4; i++)
            shown[i] = (struct shown_name){.name = sets[room % 2][i], .room = room / 2};
        names_show(shown, 4, "...");
        for (size_t i = 0; i < 4; i++)
            for (size_t k = 0; k < i; k++)
                CHECK(strcmp(shown[i].shown, shown[k].shown));
        for (size_t i = 0; i < 4; i++)
            free(shown[i].shown);
    }
}

TEST(scopes_and_ends)
{
    SHOW(34, NAMES("a::first_of_them::between::solve_it(int, int)", "a::second_of_them::between::solve_it(int, int)"),
         "a::...::solve_it {first_of_them}", "a::...::solve_it {second_of_them}");
}

/* However little room there is, two names never look alike. */
TEST(no_room)
{
    static const char *const names[] = {"a_long_name_of_c_code_1_with_an_end",
                                        "a_long_name_of_c_code_2_with_an_end",
                                        "f<(3 > 2)>(int)",
                                        "f<(3 > 1)>(int)",
                                        "operator<< <A>(int, int)",
                                        "operator<< <B>(int, int)",
                                        "<<<((((",
                                        "<<<(((("};

    for (size_t room = 0; room < 40; room++) {
        struct shown_name shown[MOST] = {0};

        for (size_t i = 0; i < MOST; i++)
            shown[i] = (struct shown_name){.name = names[i], .room = room};
        names_show(shown, MOST, "...");
        for (size_t i = 0; i < MOST; i++)
            for (size_t k = 0; k < MOST; k++)
                CHECK(!strcmp(shown[i].shown, shown[k].shown) == !strcmp(names[i], names[k]));
        for (size_t i = 0; i < MOST; i++)
            free(shown[i].shown);
    }
}

TEST_MAIN
