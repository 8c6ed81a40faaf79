/* SPDX-License-Identifier: BSD-3-Clause */
/* A short run of the fuzzer of the grammar; tests/fuzz/run goes on for longer. */
#include "tests/unit/grammar_fuzz.h"
#include "common/mem.h"
#include "tests/unit/test.h"

TEST(any_text)
{
    AUTO_FREE char *text = grammar_of_sources();
    struct grammar *g = grammar_load(text);
    AUTO_STR struct str s = {0};
    uint64_t state = 1;
    int accepted = 0, wrong = 0;

    for (int i = 0; i < 20000 && wrong < 5; i++) {
        bool parses;

        str_clear(&s);
        fuzz_random(g, &state, &s);
        AUTO_FREE char *problem = fuzz_text(str_cstr(&s), s.len, random_below(&state, (uint32_t)s.len + 1), &parses);

        if (problem)
            TEST_FAIL("text %d: %s\n%s", i, problem, str_cstr(&s));
        wrong += problem != NULL;
        accepted += parses;
    }
    CHECK(accepted > 2000);
    grammar_free(g);
}

TEST_MAIN
