/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in the room that a terminal has. */
#include "common/shorten.h"
#include "common/file.h"
#include "common/mem.h"
#include "tests/unit/test.h"
#include <string.h>

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

static void shortens(const char *name, size_t width, const char *expected)
{
    struct str s AUTO_STR = {0};

    name_shorten(&s, name, width, "...");
    if (strcmp(str_cstr(&s), expected))
        printf("# %zu columns: %s\n", width, str_cstr(&s));
    CHECK(!strcmp(str_cstr(&s), expected));
}

TEST(what_fits_stays)
{
    shortens("index(" STRING " const&)", 200, "index(" STRING " const&)");
    shortens("main", 4, "main");
    shortens("main", 3, "main");
}

TEST(the_place_of_a_region_stays)
{
    shortens("parallel region at lulesh.cc:782", 32, "parallel region at lulesh.cc:782");
    shortens("parallel region at lulesh.cc:782", 31, "region at lulesh.cc:782");
    shortens("parallel region at lulesh.cc:782", 9, "region at lulesh.cc:782");
    shortens("parallel region", 9, "parallel region");
}

TEST(one_thing_after_the_other)
{
    const char *name = "int ns::Map<" STRING ", std::pair<int, A<B<C> > > >::find(" STRING " const&) const";

    shortens(name, 95, "int ns::Map<std::string, std::pair<int, A<B<C> > > >::find(std::string const&) const");
    shortens(name, 80, "ns::Map<std::string, std::pair<int, A<B<C> > > >::find(...) const");
    shortens(name, 64, "ns::Map<std::string, std::pair<int, A<...> > >::find(...) const");
    shortens(name, 60, "ns::Map<std::string, std::pair<...> >::find(...) const");
    shortens(name, 40, "ns::Map<...>::find(...) const");
    shortens(name, 28, "ns::Map<...>::find");
    shortens(name, 17, "ns::Map::find");
    shortens(name, 5, "ns::...::find");
}

/* What a procedure belongs to says more than that it has arguments. */
TEST(the_components_before_the_last_one)
{
    const char *name = "Foam::DICPreconditioner::precondition(Foam::Field<double>&, unsigned char) const";
    const char *deep = "a::outer::middle::Inner<int>::work<char>(A, B)";

    shortens(name, 48, "Foam::DICPreconditioner::precondition(...) const");
    shortens(name, 47, "Foam::DICPreconditioner::precondition");
    shortens(name, 36, "Foam::...::precondition(...) const");
    shortens(name, 33, "Foam::...::precondition");
    shortens(deep, 42, "a::outer::middle::Inner<...>::work<...>");
    shortens(deep, 38, "a::outer::middle::Inner::work");
    shortens(deep, 28, "a::...::middle::Inner::work");
    shortens(deep, 20, "a::...::Inner::work");
    shortens(deep, 18, "a::...::work<...>");
    shortens(deep, 5, "a::...::work");
    shortens("a::(anonymous namespace)::B::work_of_it(int)", 20, "a::...::work_of_it");
    shortens("(anonymous namespace)::B::work_of_it(int)", 20, "B::work_of_it(...)");
}

TEST(brackets_that_are_none)
{
    shortens("bool std::operator< <char, std::char_traits<char> >(A const&, B const&)", 40,
             "std::operator< <...>(...)");
    shortens("Matrix<double, 3, 3>::operator()(int, int) const", 35, "Matrix<...>::operator()(...) const");
    shortens("Pointer<long_name>::operator->()", 30, "Pointer<...>::operator->()");
    shortens("(anonymous namespace)::work(int, int, int)", 36, "(anonymous namespace)::work(...)");
    shortens("<alloc::vec::Vec<Token,Global> as core::ops::drop::Drop>::drop", 53,
             "<alloc::vec::Vec<...> as core::ops::drop::Drop>::drop");
    shortens("main::{lambda(int, double)#1}::operator()(int, double) const", 58,
             "main::{lambda(...)#1}::operator()(...) const");
}

TEST(unbalanced)
{
    shortens("a<b<c(((", 3, "a");
    shortens("a>>>)))b", 3, "a>>>)))b");
    shortens("<", 0, "<");
    shortens("", 0, "");
}

/*
 * Real names, each with what it becomes in 44 columns and in one: tests/unit/shorten_names.txt. HQ_UPDATE=1 writes it
 * anew; read what `git diff` says of it.
 */
TEST(real_names)
{
    static const char path[] = "tests/unit/shorten_names.txt";
    AUTO_STR struct str file = {0}, made = {0};
    size_t names = 0, number = 0;

    CHECK_OR_RETURN(!file_read(path, &file, 1 << 20));
    for (char *line = file.s, *end; line && *line; line = end + 1, number++) {
        end = line + strcspn(line, "\n");
        CHECK_OR_RETURN(*end == '\n');
        if (number % 3)
            continue;
        AUTO_FREE char *name = xstrndup(line, (size_t)(end - line));

        str_addf(&made, "%s\n    ", name);
        name_shorten(&made, name, 44, "...");
        str_add(&made, "\n    ");
        name_shorten(&made, name, 1, "...");
        str_addc(&made, '\n');
        names++;
    }
    CHECK(names >= 200);
    if (getenv("HQ_UPDATE")) {
        FILE *out = fopen(path, "w");

        CHECK_OR_RETURN(out);
        fputs(str_cstr(&made), out);
        fclose(out);
    } else {
        CHECK(!strcmp(str_cstr(&file), str_cstr(&made)));
    }
}

TEST_MAIN
