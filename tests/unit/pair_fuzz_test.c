/* SPDX-License-Identifier: BSD-3-Clause */
/* A short run of the fuzzer of pairs of databases; build-san/tools/fuzz_pair goes on for as long as it is told. */
#include "common/log.h"
#include "tests/unit/pair_fuzz.h"
#include "tests/unit/test.h"

enum { ROUNDS = 250 };

TEST(pairs_of_databases)
{
    struct pair_fuzz *f = pair_fuzz_create(1);
    struct pair_fuzz_counts counts = {0};

    CHECK_OR_RETURN(f);
    log_set_level(LEVEL_QUIET);
    for (uint64_t i = 0; i < ROUNDS; i++)
        pair_fuzz_round(f, i << 32, &counts);
    /* Most are asked, not refused. */
    CHECK(counts.opened > ROUNDS / 2);
    CHECK(counts.tables > ROUNDS / 2);
    CHECK(counts.outputs > ROUNDS);
    pair_fuzz_destroy(f);
}

TEST_MAIN
