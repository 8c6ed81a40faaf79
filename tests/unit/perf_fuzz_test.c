/* SPDX-License-Identifier: BSD-3-Clause */
/* A short run of the fuzzer of the kernel's profiles; build-san/tools/fuzz_perf goes on for as long as it is told. */
#include "common/file.h"
#include "common/log.h"
#include "common/mem.h"
#include "tests/unit/perf_fuzz.h"
#include "tests/unit/test.h"

enum { ROUNDS = 40 };

TEST(profiles_of_the_kernel)
{
    AUTO_FREE char *dir = test_tmpdir();
    struct perf_fuzz_counts counts = {0};

    log_set_level(LEVEL_QUIET);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        AUTO_FREE char *problem = perf_fuzz_round(dir, i << 32, &counts);

        if (problem)
            TEST_FAIL("round %llu: %s", (unsigned long long)i, problem);
    }
    /* Most are read, not refused. */
    CHECK(counts.imported > ROUNDS / 8);
    CHECK(counts.converted > ROUNDS / 4);
    hq_error_free(file_remove_tree(dir));
}

TEST_MAIN
