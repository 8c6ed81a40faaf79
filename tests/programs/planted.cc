/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A benchmark of a fixed amount of work, of which one procedure, `planted`, has a known part and can be made slower.
 * All of its procedures do the same on data of their own (sorting, a hash table), so parts of the work are parts of
 * the time.
 *
 *     planted UNITS PERCENT FACTOR     UNITS in all, PERCENT of them in `planted`, which does FACTOR times its part
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <vector>

#define NOINLINE __attribute__((noinline, noipa))

namespace {

/* What is left over of a part is done in a later round: on the whole no unit is lost. */
struct Part {
    double share;
    double owed = 0;
    uint64_t state = 1;
    uint64_t sum = 0;
    std::vector<uint64_t> data = std::vector<uint64_t>(512);

    explicit Part(double part) : share(part)
    {
    }
    long take(double units)
    {
        owed += units * share;
        long n = static_cast<long>(owed);
        owed -= static_cast<double>(n);
        return n;
    }
    void unit()
    {
        std::unordered_map<uint64_t, uint64_t> counts;

        for (auto &x : data) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            x = state >> 33;
        }
        std::sort(data.begin(), data.end());
        for (auto x : data)
            counts[x & 63]++;
        sum += counts[data[7] & 63];
    }
};

NOINLINE void read_input(Part &p, long n)
{
    while (n-- > 0)
        p.unit();
}
NOINLINE void planted(Part &p, long n)
{
    while (n-- > 0)
        p.unit();
}
NOINLINE void write_output(Part &p, long n)
{
    while (n-- > 0)
        p.unit();
}

} // namespace

int main(int argc, char **argv)
{
    double units = argc > 1 ? atof(argv[1]) : 1000, percent = argc > 2 ? atof(argv[2]) : 40;
    double factor = argc > 3 ? atof(argv[3]) : 1, share = percent / 100;
    Part input((1 - share) / 2), middle(share * factor), output((1 - share) / 2);
    const double round = 40;

    for (double left = units; left > 0; left -= round) {
        read_input(input, input.take(std::min(left, round)));
        planted(middle, middle.take(std::min(left, round)));
        write_output(output, output.take(std::min(left, round)));
    }
    printf("%llu\n", static_cast<unsigned long long>(input.sum + middle.sum + output.sum));
    return 0;
}
