/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A benchmark of a fixed amount of work whose parts are as unlike as those of programs: a loop nest of doubles, a tree
 * map of texts, sums over memory that no cache holds, and `planted`, which hashes and branches. On a busy machine they
 * do not slow down alike.
 *
 *     mixture UNITS FACTOR     UNITS rounds, of which `planted` has about 40 % of the time; it does FACTOR times its
 * part
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline, noipa))

namespace
{

uint64_t state = 1;

uint64_t next()
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 20;
}

NOINLINE double multiply(std::vector<double> &a, const std::vector<double> &b)
{
    const size_t n = 48;
    double trace = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;

            for (size_t k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            trace += i == j ? sum : 0;
        }
    a[0] = trace > 1e6 ? 1 : a[0] + 1e-9;
    return trace;
}

NOINLINE size_t index_texts()
{
    std::map<std::string, int> index;

    for (int i = 0; i < 250; i++)
        index["word" + std::to_string(next() % 1000)]++;
    return index.size();
}

NOINLINE uint64_t gather(const std::vector<uint32_t> &memory)
{
    uint64_t sum = 0, at = next();

    for (int i = 0; i < 3500; i++) {
        at = at * 2862933555777941757u + 3037000493u;
        sum += memory[(at >> 32) % memory.size()];
    }
    return sum;
}

NOINLINE uint64_t planted(long n)
{
    uint64_t hash = 14695981039346656037u;

    for (long i = 0; i < n; i++) {
        hash = (hash ^ (uint64_t)i) * 1099511628211u;
        if (hash & 64)
            hash += hash >> 7;
    }
    return hash;
}

}  // namespace

int main(int argc, char **argv)
{
    long units = argc > 1 ? atol(argv[1]) : 100, part = (long)(46000 * (argc > 2 ? atof(argv[2]) : 1));
    std::vector<double> a(48 * 48, 0.5), b(48 * 48, 0.25);
    std::vector<uint32_t> memory(6 << 20, 1);
    uint64_t sum = 0;
    double trace = 0;

    for (long i = 0; i < units; i++) {
        trace += multiply(a, b);
        sum += index_texts() + gather(memory) + planted(part);
    }
    printf("%llu %g\n", (unsigned long long)sum, trace);
    return 0;
}
