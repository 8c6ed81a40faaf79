// SPDX-License-Identifier: BSD-3-Clause
// As calls.c, in C++: templates and lambdas inlined into one line. For calls.py.
#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" __attribute__((noinline)) double work(double x) noexcept
{
    for (int i = 0; i < 10; i++)
        x = x * 1.000001 + i;
    asm volatile("" ::: "memory");
    return x;
}

template <class F> static inline double each(const double *v, int n, F f) noexcept
{
    double s = f(v[0]);
    for (int i = 1; i < n; i++)
        s += f(v[i]);
    return s + f(s);
}

struct table {
    const double *v;
    int n;
    double sum() const noexcept { double s = work(n); for (int i = 0; i < n; i++) s += work(v[i]); return s - work(s); }
};

__attribute__((noinline)) static double lambdas(const double *v, int n) noexcept
{
    double s = each(v, n, [](double x) noexcept { return work(x); }) + each(v, n / 2, [](double x) noexcept { return work(x + 1); });
    for (int k = 0; k < 3; k++)
        s += each(v, n, [k](double x) noexcept { return work(x + k); });
    return s;
}

__attribute__((noinline)) static double members(const double *v, int n) noexcept
{
    double s = 0;
    for (int k = 0; k < 3; k++) s += table{v, n}.sum() + table{v, n / 2}.sum();
    return s + table{v, n}.sum();
}

static double values[1000];

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 100;
    std::printf("%g %g\n", lambdas(values, n), members(values, n));
    return 0;
}
