/* SPDX-License-Identifier: BSD-3-Clause */
/* A few thousand damaged structure files; build/tools/fuzz_given goes on for as long as it is told. */
#include "tests/unit/test.h"
#include "common/mem.h"
#include "tests/unit/given_fuzz.h"

enum { ROUNDS = 3000 };

TEST(the_file_itself_is_read)
{
    bool read;
    AUTO_FREE char *problem = given_fuzz_round(NULL, &read);

    if (problem)
        TEST_FAIL("%s", problem);
    CHECK(read);
}

TEST(damaged_files_are_refused_or_answered)
{
    uint64_t state = 1;
    int many = 0;

    for (int i = 0; i < ROUNDS; i++) {
        uint64_t before = state;
        bool read;
        AUTO_FREE char *problem = given_fuzz_round(&state, &read);

        many += read;
        if (problem)
            TEST_FAIL("state %llu: %s", (unsigned long long)before, problem);
    }
    /* Both ways are tried. */
    CHECK(many > ROUNDS / 20 && many < ROUNDS);
}

TEST_MAIN
