/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of what has no name outside, to be inlined; without inlining their symbols are the names that must be shown. */
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

volatile int sink;

template <class F, class... A> static void twice(F f, A &&...a)
{
    for (int i = 0; i < 2; i++)
        sink = sink + f(a...);
}

namespace space {
namespace {
struct host {
    int k;
    void run(int n) const
    {
        twice([this](int x) { return x * k; }, n);
        twice([n]() { return n; });
    }
};
}
}

static void print(int n)
{
    sink = n;
}

int main(int argc, char **argv)
{
    std::vector<int> v(argc);
    std::string text = argv[0];

    twice([&](int i) { return v[i % v.size()] + argc; }, 3);
    {
        twice([&](int i) {
            auto inner = [&](int q) { return q * argc; };
            return inner(i) + inner(v[0]);
        }, 4);
    }
    twice([](int i) mutable { return i++; }, 5);
    twice([](char const *s, std::size_t n) { return s[n] + 1; }, argv[0], std::size_t(0));
    twice([](std::vector<int> &w, double const *d) { return w[0] + (int)*d; }, v, new double(3));
    twice([](void (*f)(int), void *p, unsigned short u) { f(u); return p != nullptr; }, print, argv, (unsigned short)1);
    twice([](bool const *b, long n, space::host const &h) { return b[n] + h.k; }, new bool[1](), 0L, space::host{argc});
    struct local {
        int a;
        int get() const { return a * 5; }
    } l{argc};
    twice([&l](local const &o) { return o.get() + l.get(); }, l);
    space::host{argc}.run(argc);
    /* The names of a class and of what it is called with hold each other. */
    struct {
        struct inner { int a; int get() const { return a * 2; } };
        int operator()(inner const &i) { return i.get(); }
    } object;
    twice([&](int i) { return object({i}); }, argc);
}
