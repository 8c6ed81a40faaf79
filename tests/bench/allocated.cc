/* SPDX-License-Identifier: BSD-3-Clause */
/* allocated ROUNDS: each round fills a map of 20,000 strings and drops it: 40,000 blocks. */
#include <cstdlib>
#include <map>
#include <string>

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 10;

    for (long r = 0; r < rounds; r++) {
        std::map<int, std::string> map;
        for (int i = 0; i < 20000; i++)
            map[i * 7919 % 20011] = "too long for the string itself";
    }
    return 0;
}
