/* SPDX-License-Identifier: BSD-3-Clause */
/* Something of everything that structure recovery reads: inlined code, loops, a jump table, landing pads. */
#include <cstdio>
#include <stdexcept>
#include <vector>

static inline int square(int x)
{
    return x * x;
}

static void choose(int n)
{
    switch (n) {
    case 1: std::puts("one"); break;
    case 2: std::puts("two"); break;
    case 3: std::puts("three"); break;
    case 4: std::puts("four"); break;
    case 5: std::puts("five"); break;
    case 6: std::puts("six"); break;
    default: throw std::out_of_range("choose");
    }
}

int main(int argc, char **argv)
{
    std::vector<int> numbers;

    for (int i = 0; i < argc * 10; i++) {
        try {
            numbers.push_back(square(i));
            choose(numbers.back() % 9);
        } catch (const std::exception &e) {
            std::puts(e.what());
        }
    }
    for (int &n : numbers)
        n += argv[0][0];
    return (int)numbers.size() > argc;
}
