/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_grammar SECONDS [SEED]: random texts through the parser, from the top directory. Prints the texts that break a
 * rule. */
#include "common/mem.h"
#include "tests/unit/grammar_fuzz.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A text that hangs the parser ends the program by SIGALRM; the seed and the number of texts name it. */
enum { SECONDS_FOR_ONE = 20 };

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 10;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL), state = seed;
    AUTO_FREE char *text = grammar_of_sources();
    struct grammar *g = grammar_load(text);
    AUTO_STR struct str s = {0};
    time_t end = time(NULL) + (time_t)seconds;
    long long texts = 0, accepted = 0, wrong = 0;

    printf("fuzz_grammar: seed %llu\n", (unsigned long long)seed);
    for (; time(NULL) < end && wrong < 10; texts++) {
        bool parses;

        str_clear(&s);
        for (uint32_t n = random_below(&state, 50) ? 1 : random_below(&state, 400); n; n--)
            fuzz_random(g, &state, &s);
        alarm(SECONDS_FOR_ONE);
        AUTO_FREE char *problem = fuzz_text(str_cstr(&s), s.len, random_below(&state, (uint32_t)s.len + 1), &parses);

        accepted += parses;
        if (problem) {
            wrong++;
            printf("text %lld: %s\n%s\n", texts, problem, str_cstr(&s));
        }
    }
    printf("%lld texts, %lld of them queries\n%d passed, %lld failed\n", texts, accepted, wrong == 0, wrong);
    grammar_free(g);
    return wrong != 0;
}
