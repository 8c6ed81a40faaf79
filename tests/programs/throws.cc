/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * throws SECONDS [ROUNDS]: two threads that throw and catch through frames of many kinds, and the runtime's own unwinder at work below; for so much CPU
 * time each, or, where the work has to be the same in every run, so many times.
 */
#include "burn.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct guard {
    std::vector<int> data;
    explicit guard(int n) : data(n, 1) {}
    ~guard() { data.clear(); }
};

static __attribute__((noinline, noipa)) int deep(int depth)
{
    guard g(depth % 7 + 1);

    if (depth == 0)
        throw std::runtime_error("bottom");
    return deep(depth - 1) + g.data[0];
}

static __attribute__((noinline, noipa)) int rethrow(int depth)
{
    try {
        return deep(depth);
    } catch (const std::logic_error &) {
        return 1;
    } catch (...) {
        throw;
    }
}

static void run(double end, long rounds)
{
    long caught = 0;

    while (rounds ? caught < rounds : thread_seconds() < end)
        try {
            rethrow(static_cast<int>(caught % 30));
        } catch (const std::exception &e) {
            caught += std::string(e.what()).size() > 0;
        }
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    long rounds = argc > 2 ? atol(argv[2]) : 0;
    std::thread other(run, seconds, rounds);

    run(seconds, rounds);
    other.join();
    return 0;
}
