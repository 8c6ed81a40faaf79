/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops and exceptions: see tests/structure/loops.py.
 *
 *! build: g++ -O0 | g++ -O1 | g++ -O2 | g++ -O3 | g++ -O2 -fno-plt | clang++ -O1 | clang++ -O2
 */
#include <cstdio>
#include <stdexcept>
#include <vector>

#define NOINLINE __attribute__((noinline))

NOINLINE static int work(int i)
{
    if (i % 7 == 3)
        throw std::runtime_error("three");
    return std::printf("%d\n", i);
}

/* Caught inside a loop: the handler is part of the loop, and what follows is not, though destructors run there. */
/*! inside(int): loops in after                 when -O[123] */
/*! inside(int): handler in in                  when -O[123] */
NOINLINE int inside(int n)
{
    std::vector<int> seen;

    for (int i = 0; i < n; i++) {               // @in
        try {
            seen.push_back(work(i));
        } catch (const std::exception &e) {
            std::puts(e.what());                // @handler
        }
    }
    int sum = 0;
    for (int x : seen)                          // @after
        sum = sum * 3 + x;
    return sum;
}

/* Caught around a loop: the handler is in no loop. */
/*! around(int): loops a */
/*! around(int): count 1 */
NOINLINE int around(int n)
{
    try {
        for (int i = 0; i < n; i++)             // @a
            work(i);
    } catch (const std::exception &) {
        return -1;
    }
    return n;
}

/* Closed by an exception only: tried again. */
/*! again(int): count 1 */
NOINLINE int again(int n)
{
    for (;;) {
        try {
            return work(n);
        } catch (const std::exception &) {
            n++;
        }
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    return inside(argc) + around(argc) + again(argc);
}
