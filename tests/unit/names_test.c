/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of procedures as demanglers write them, and what finds them. */
#include "common/names.h"
#include "tests/unit/test.h"

static bool finds(const char *word, const char *name)
{
    return name_is(name, word) || name_ends(name, word);
}

TEST(whole_names)
{
    CHECK(name_is("MPI_Wait", "MPI_Wait"));
    CHECK(name_is("std::vector<int>::push_back(int)", "std::vector<int>::push_back(int)"));
    CHECK(name_is("std::vector<int>::push_back(int)", "std::vector<int>::push_back"));
    CHECK(!name_is("std::vector<int>::push_back(int)", "push_back"));
    CHECK(!name_is("MPI_Waitall", "MPI_Wait"));
}

TEST(unqualified_names)
{
    CHECK(finds("push_back", "std::vector<int>::push_back(int)"));
    CHECK(finds("push_back(int)", "std::vector<int>::push_back(int)"));
    CHECK(finds("vector<int>::push_back", "std::vector<int>::push_back(int)"));
    CHECK(!finds("back", "std::vector<int>::push_back(int)"));
    CHECK(!finds("push_back(long)", "std::vector<int>::push_back(int)"));
    CHECK(finds("run", "(anonymous namespace)::Solver::run()"));
    CHECK(finds("run", "run(int, char**)"));
}

TEST(return_types_and_qualifiers)
{
    CHECK(finds("sum", "double blas::sum<double>(std::vector<double> const&)"));
    CHECK(finds("sum<double>", "double blas::sum<double>(std::vector<double> const&)"));
    CHECK(finds("blas::sum", "double blas::sum<double>(std::vector<double> const&)"));
    CHECK(finds("get", "Box::get() const"));
    CHECK(finds("work", "work(int) [clone .constprop.0]"));
    CHECK(finds("work", "work._omp_fn.0"));
    CHECK(finds("work", "work.part.0.cold"));
    CHECK(finds("smooth", "grid::smooth._omp_fn.12"));
    CHECK(!finds("work", "work.main")); /* Go: package and procedure */
    CHECK(!finds("work", "work._omp_fn.0.x::y"));
    CHECK(!finds("double", "double blas::sum<double>(int)"));
}

TEST(operators)
{
    CHECK(finds("operator()", "Functor::operator()(int) const"));
    CHECK(finds("operator<", "ns::operator<(ns::A const&, ns::A const&)"));
    CHECK(finds("operator<<", "std::operator<<(std::ostream&, char const*)"));
    CHECK(finds("operator->", "Pointer<Node>::operator->() const"));
    CHECK(finds("operator bool", "Pointer<Node>::operator bool() const"));
    CHECK(finds("operator<=>", "bool ns::operator<=><int, long>(ns::A<int> const&, ns::A<long> const&)"));
    CHECK(finds("f", "void (*f(int))(double)"));
    CHECK(finds("f(int)", "void (*ns::f(int))(double)"));
    CHECK(!finds("double", "void (*f(int))(double)"));
    CHECK(!finds("int", "Functor::operator()(int) const"));
}

TEST(addresses)
{
    CHECK(name_is_address("libgomp.so.1+0x1cfd0"));
    CHECK(name_is_address("main/libgomp.so.1+0x1cfd0"));
    CHECK(!name_is_address("operator+"));
    CHECK(!name_is_address("libgomp.so.1"));
}

TEST(last_components)
{
    static const struct {
        const char *name, *last;
    } cases[] = {
        {"main", "main"},
        {"a::b::c(int)", "c"},
        {"void a::f<int>(b::c)", "f"},
        {"x<a::b>::y", "y"},
        {"", ""},
        {"main::{lambda(int)#1}::operator()(int) const", "operator()"},
        {"A::f(int) const::{lambda(int)#1}::operator()<int>(int) const", "operator()"},
        {"std::enable_if<((sizeof (int))>(2)), void>::type ns::conditional<((sizeof (int))>(2)), int>(int)",
         "conditional"},
        {"bool less<(1 < 2)>::compare<(3 > 2)>(int)", "compare"},
        {"decltype (((declval<int>)())<<((declval<int>)())) ns::shifted<int, long>(int, long)", "shifted"},
        {"void (*select<int>(std::string const&))(double)", "select"},
        {"void (ns::A::*ns::member<int>(ns::B))(double) const", "member"},
        {"int (&ns::array_of())[3]", "array_of"},
        {"void ns::apply<(&ns::operator<< <char>), int>(int)", "apply"},
        {"bool operator<=><int, long>(ns::wide<int> const&, ns::wide<long> const&)", "operator<=>"},
        {"std::ostream& ns::operator<< <int>(std::ostream&, ns::A<int>)", "operator<<"},
        {"ns::Foo<'<'>::bar(int)", "bar"},
        {"auto ns::f<ns::A>(ns::A) requires ns::C<ns::A>", "f"},
        {"<dyn core::ops::FnOnce() -> R as core::ops::FnOnce<()>>::call_once", "call_once"},
        {"<[T] as rayon::slice::ParallelSliceMut<T>>::par_sort::<K, F>", "par_sort"},
        {"llvm::raw_ostream::flush()@@LLVM_15", "flush"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n;
        const char *last = name_last(cases[i].name, &n);

        CHECK(n == strlen(cases[i].last) && !memcmp(last, cases[i].last, n));
    }
}

TEST(globs)
{
    CHECK(name_matches_glob("MPI_Wait", "MPI_*"));
    CHECK(!name_matches_glob("PMPI_Wait", "MPI_*"));
    CHECK(name_matches_glob("PMPI_Wait", "?MPI_*"));
    CHECK(name_matches_glob("std::vector<int>::push_back(int)", "push*"));
    CHECK(name_matches_glob("std::vector<int>::push_back(int)", "*vector*"));
    CHECK(!name_matches_glob("std::vector<int>::push_back(int)", "vector*"));
    CHECK(glob_matches("*a*b*", "xxaxxbxx", 8));
    CHECK(!glob_matches("*a*b", "xxaxxbxx", 8));
    CHECK(glob_matches("", "", 0) && glob_matches("***", "", 0) && !glob_matches("?", "", 0));
}

TEST(paths)
{
    CHECK(path_ends("/opt/app/src/main.c", "main.c"));
    CHECK(path_ends("/opt/app/src/main.c", "src/main.c"));
    CHECK(path_ends("/opt/app/src/main.c", "/opt/app/src/main.c"));
    CHECK(!path_ends("/opt/app/src/domain.c", "main.c"));
    CHECK(!path_ends("main.c", ""));
    CHECK(path_matches_glob("/usr/lib/libmpi.so.12", "libmpi*"));
    CHECK(path_matches_glob("/usr/lib/libmpi.so.12", "*/libmpi.so.??"));
    CHECK(!path_matches_glob("/usr/lib/libmpi.so.12", "mpi*"));
}

/* Whatever stands in a symbol table, nothing is read beyond its end. */
TEST(odd_names)
{
    static const char *const names[] = {"",          "(",           ")",     "()",      "<",     ">",     "operator",
                                        "operator(", "operator()",  "a::",   "::",      "::a",   ">>>",   "(((",
                                        "x [",       "x [y",        "void ", " ",       "a b c", "f(int", "f)int(",
                                        "operator<", "operator<<<", "a<b",   "a>::b(c)"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            size_t n;
            const char *last = name_last(names[i], &n);
            struct name_parts p = name_split(names[i]);

            CHECK(last + n <= names[i] + strlen(names[i]));
            CHECK(p.no_arguments <= p.length && p.name + p.length == names[i] + strlen(names[i]));
            CHECK(i != k || name_is(names[i], names[k]));
            name_ends(names[i], names[k]);
            name_matches_glob(names[i], names[k]);
            path_matches_glob(names[i], names[k]);
        }
}

TEST_MAIN
